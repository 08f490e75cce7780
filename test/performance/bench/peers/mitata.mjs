export { measure } from 'mitata'
