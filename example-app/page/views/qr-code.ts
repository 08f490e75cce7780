import { encode } from 'uqr'
import { qrPath } from '../qr-path.js'
import { svg } from './dom.js'

/** The empty space around a QR code, in squares (ISO/IEC 18004). */
const QUIET_ZONE = 4

/** Draws a QR code here in the browser, so that its text is in no URL. */
export function qrCode(text: string, label: string): SVGSVGElement {
  const { data, size } = encode(text, { border: QUIET_ZONE })
  return svg(
    'svg',
    { class: 'qr-code', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': label },
    svg('path', { d: qrPath(data) }),
  )
}
