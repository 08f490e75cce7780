declare module 'bluebird' {
  const Bluebird: PromiseConstructor
  export default Bluebird
}

declare module 'express4' {
  import express from 'express'

  export default express
}
