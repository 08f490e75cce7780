const express = require('express')

const router = express.Router()

router.get('/', (req, res) => res.json({ account: req.auth.accountId }))

module.exports = router
