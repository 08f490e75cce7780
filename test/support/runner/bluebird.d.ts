declare module 'bluebird' {
  const Bluebird: PromiseConstructor
  export default Bluebird
}
