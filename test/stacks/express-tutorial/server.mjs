import { listening } from '../account.mjs'
import { createTutorial } from './app.mjs'

const app = await createTutorial()
const server = app.listen(0, '127.0.0.1', () => listening(server.address().port))
