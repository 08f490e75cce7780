// In this folder, because the packages of the bench are installed here.
export { measure } from 'mitata'
