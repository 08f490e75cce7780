/**
 * The letters that collations treat as equal to another text. `UPDATE_EQUAL_LETTERS=1 npm run test:only -- equal-letters` writes them from
 * the ICU of Node. They are stored, because processes on different versions of Node share the keys in a store.
 */
const RUNS = [
  '5i:1t,1x a:1w 8:27 1k:1w m:20 r:24 h:27,1x 1n:2i,2f 1d:2c,2b 3e:1w,1u 1:29,28 2y:1w,2i 1:1w,c7 1:1w,i9 1:2c,2b',
  '1:2c,bt 1:2c,gl 1:1y,96 1:24,2b 1:24,2i 54:1t 1:1x 1:21 1:27 1:2d 1+1:1v 1:20 1:25 1:2a 1:2c 1:2e 1:2g',
  '2o:pm,pd 5d:sz 97:15m 3:15p 2:15r 4:15v 2:15x 9:15l,15g,15h,15g 1:15h,15h 1:15h,15l 1:15l,15l 1:13 1:y 24:',
  'w+9:1c b: 2y: 7:18o 1:18q a+9:1c 4: 1:18l m:1eb 8:1ej 8:1er 3:1eu 6+1:1ea 1:1ed 41+9:1c v+1:1jq 1:1jt g: 16:',
  '4: 20:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r 1:17r',
  '1:17r 1:17r 1: 1:18o 1:18q 1:18q 1: 12:17r s:1cc 4d+9:1c 2n:1wk o+9:1c 5+3:1d 33+9:1c 3b+9:1c 3b+9:1c 3b+9:1c',
  '31:2eu,2eo 1:2eg 9+9:1c 9+3:1c 1+2:1d 2m:2ie,2i8 1:2i0 9+9:1c 2n:2ls 6+1:2lq 1:2lw g+9:1c b:2lf 1:2lk 1:2ls',
  '1+1:2lu 1:2l1 2v+9:1c 2p+9:1c 3b+9:1c 13:31k w+9:1c 1+8:1d 1:1c 1j:31e 5x:36m,36m 1+9:1c 1z+9:1c k0+8:1d',
  'mo:4gw 3:4gy 1:4gy 2:4h2 2:4h4 3:4h4 1:4h4 1:4h4 5:4he 1:4he 1:4he 1:4he 5:4hm 1:4hm 1:4hm 2:4hq 1:4hq 2:4ht',
  '2:4hv 2:4hx 5:4i2 1:4i2 1:4i2 1:4i2 2:4i7 1:4i7 2:4ia 1:4ia 1:4i0 3:4if 1:4if 2:4ii 2:4ik a:4iu 1:4iu 1:4hl',
  '1:4i2 4:4hx,4ii 1:4if,4if 1:4h2,4h2 6o+9:1c 7+9:1c h: 6+9:1c 78:4y0 1:4y3 14+9:1c 3l+9:1c 1:1d 4:524 1:524,535',
  '39:56u,56u 4:55y 1:55y 1:56j 1:56j 11+9:1c 7+9:1c 12:2f 1:i5 c:1z 1:2a 1:2c 3i:5cq,5cs 4+9:1c 2f+9:1c 1:5fn',
  '4:5fu 1:5g9 2:5hc 2:5he 1:5he 2:5hh 2:5hj 2:5hl 2:5hn 1:5hn 2:5hq 4:5hu 2:5hw 2:5hy 2:5i0 1:5i0 2:5i3 3:5i6',
  '2p+9:1c 7+9:1c 1j+11:3a8 u: n:5pl 1:5pl 1:5pl 2:5pl 1:5pl 1:5pl 1:5pl 1: 1: 7:5pl 2c:5qh 18:2c,20 28:2a 8:x2m',
  '1:1t 1:1t,1x 1:1t,27 1:1t,2e 1+1:1v 1:1w 1:1z 1:gy 1+1:23 1:in 1:5ql 1:26 1:hg 1:bq 1+1:2a 1:2b 1:2i 1:8rx',
  '1:1u 1:x4k 1:b3 1:1y 1:xtk 1+1:27 1:bt 1:2d 1:2f 1:1t 1:27 1:2d 4q:2b,2b 2k:24,24 7y:13 1:13 1:13 1:13 1:y 1:y',
  '1:y 1:y 3s:28,2c,2b 4m:1t,1b,2b 1k:1i o6:1d,1d 1:1d,1e 1:1d,1f 1:1d,1g 1:1d,1h 1:1d,1i 1:1d,1j 1:1d,1k 1:1d,1l',
  '1:1e,1c 1+8:1d 1:1d,1c 1:1c hj+8:1d 1:1d,1c 1+8:1d 1:1d,1c 1+8:1d 1:1d,1c 11t:8t0,8sg,8sy 70+3:sx 1+1:t2',
  '1+8:t6 1+4:th 1:vm 1:td,te 1:sw 1:t1 1:wug 1:wui 1:v6 1:tq 1:wuu 1:va 1:ve 1:vg 1v:y 23:970 3+1:972 k:97o',
  'e:981 1+1:981 2:986 8:98e 1:98e 7:98m 6:98s 1:98s h:99a j:99t 7o:9jr,9kx 1:1c m:y 1:y 1:y 2+8:1d 9:9ip 2:9ir',
  '8:9ku,9jt 6:9j5 2:9j7 2:9j9 2:9jb 2:9jd q:9k3 w:9kz 2:9l1 2:9l3 7:9la 6:9jf 1:9jl b:9j5 1:9j5 1:9j7 1:9j7',
  '1:9j9 1:9j9 1:9jb 1:9jb 1:9jd 1:9jd 1:9jf 2:9jh 2:9jj 2:9jl 2:9jn 2:9jp 2:9jr 2:9jt 2:9jv 2:9jx 2:9jz 2:9k1',
  '2:9k3 1:9k3 2:9k6 2:9k8 2+5:9ka 3:9ki 3:9kl 3:9ko 3:9kr 3+5:9ku 1:9kz 1:9l1 1:9l1 1:9l3 1:9l3 1+5:9l5 1:9la',
  '1+3:9lc 2:9jf 1:9jl 1k:9p8 36:9ol 1:9p3 1:9ow 1:9ot 2:9t0 2:9p7 1:9pk 1:9p6 1+1:9pj 3:9pa 1:9pc 4:9pj 1:9om',
  '1:9oq 1+1:9ou 4:9ot 1h:9jj 1:9jr 1:9jt 1:9k8 1:9kc 1:9kf 1:9ki 1:9kl 1:9ko 1:9kr 1:9kw 1+4:9l5 21:1d,1c',
  '1:1e,1c 1:1f,1c 1:1g,1c 1:1h,1c 1:1i,1c 1:1j,1c 1:1k,1c 5i5:97q a:96o z:96s 1:96r 1:96q 2o:96t jr:96u 2m:96v',
  'w:96w 2:96x 9m:96y d:96z p:96p 1ot:970 j+1:972 cw:976 3r:977 5y:979 1:978 36:97b 1:97a i0:97c kp:97d 4s:97f',
  '4:97g 83:97h vm:97i 47:97k 10:97l 5:97m tu:97n cf:97o 1c:97r 2a:97s 66:97t e8:97u 9v:97v gc+1:97w ce:97y',
  'e8:97z bq:980 4z:982 1:981 1j:986 1:988 3b:989 3h:98b 1:98a 9:98c ab:98d 3h:98e r9:98h eu:98i 7v:98k 1:98j',
  '1t:98l h:98m cu:98o al:98p 46:98q c3:98r 28:98s 63:98v s4:98w 6q+1:98x 7:98z 2x:990 1g+1:991 5n:993 2y:994',
  '44:995 3z:996 2h:997 g+2:998 3n:99c 1f:99d 5y:99e 1o:99f 44:99g 8w:99h bn:99i 2e:99j 1d:99k u:99l 1m:99m',
  '24:99n 6:99o 2:99p 19:99q e:99r c:99s 3:99t 19w:wns 1:woa 1:wp3 1:wlo,wsr 1:wm6,wsr 1:wmr,wsr 1:wnb,wss',
  '1:wnm,wsr 1:wns,wss 1:wnu,wss 1:wo0,wsr 1:wp1,wsr 1:wqc,wsr 1:wqz,wsr 1:wr5,wss 1:wrc,wsr 1+9:1c 1:woe 1:wr5',
  '1p:ta 2:ta 2:ta 2:ta 6:sk 1:t4 1:sm 1:tf 1+2:tm 1:v4 t:ta 2:ta 4:tg 1:v8 3t:2c,2i a:1t,1t 2:1t,27 2:1t,2d',
  '2:1t,2e 2:1t,2e 2:1t,2h i:27,27 c:2a 6:2e,2h p:1w 2:1y 2:1z 5:2a 2:2b 2:2c k:1t 2:27 2:2d 2:1z 2:23 2:26 2:2a',
  '2:2b 3:5qg l:1t 2:2f m:2b 6w+9:1c q:xde 1:xde 1:xde 1:xde 1:xde 9+9:1c 4j:xij 10+9:1c n+9:1c 2f+9:1c 7h:1w,i8',
  '1:2c,x51 3t+9:1c gai: ic+8:1d 1f:1d 1:1h 5:1h 7:1h 9:1d 1:1d 1+1:1d 1:1e 1:1e 1:1e 1:1h k:1h n:1c 9j+8:1d',
  '1j:1d 1:1h 4w+1:1d 5q+9:1c k7:1t,1t 60+2:1d v+4:1d 16+3:1d 1+1:1g 27:1d 1:1h q:1d 4+1:1e 4l+8:1d 3c+3:1d 1m:1d',
  'w:1d 26:1d 1:1h 30+3:1d t+3:1d 1a+3:1d 9a:1d 1:1h 1h+9:1c 7+9:1c 7r+8:1d 2l:18q 1:18m 2f+4:1d 1c:1d 38+3:1d',
  '3u+8:1d c+9:1c 3l+9:1c 1p+9:1c 41+9:1c 8+8:1d 7b+9:1c 9j+9:1c 3b+9:1c af+9:1c 2v+9:1c 7+9:1c 1+9:1c 25+9:1c',
  'br+9:1c 2v+9:1c if+9:1c 2f+9:1c 1+8:1d 6m+9:1c 1z+9:1c 1j+9:1c 9z+9:1c x3+7:1e 1+6:1f 1+5:1g 1+8:1d 1+4:1d',
  '1+1:1e 1+6:1f 1+2:1d 1+2:1f 3+2:1d 1+2:1f 1:1f 1+1:1f 1:1g 1:1g 1:1g 1+1:1i 1:1j 1+1:1j 1+1:1k 1:1l 1:1l 1:1l',
  '1+4:1e 1+3:1d 1+1:1g 1:1h 1+1:1e 1+1:1d g+5:1g c02+9:1c 1t3+9:1c 2f+9:1c 3r+9:1c ev+9:1c 7b+9:1c b+2:1d 9o:g1r',
  '1:g2a cvz:9jn u+2:9lc 3:9jn f+3:9lc 6l5+9:1c n+9:1c 3b+8:1d a+4:1d 1:1d 1:1h 2a0:1y,96 i:1w 5:2c,5u3 2:1w,5ui',
  '3:2c,5ug 6c+6:8ow 2+g:8p4 3+6:8pn 2+1:8pv 2+4:8py 2t:sm 4x+9:1c br+9:1c dz+9:1c 6w+9:1c jx+8:1d 3l+9:1c',
  'm0+8:1d 16+8:1d 6+1:1d 27+8:1d 12+7:1e r9:1c 1:1c 1w+p:1t 7+p:1t 1:28 1:21,1v 1:28,1t 1:2b,1t 1:1t,1u 1:2f,1v',
  '2:1v,24 1:1v,27,27,24 1:1y,2a,1x,1x 1:21,1w 1:26,1x,2f 1:26,1z 1:27,23 1:2b,27,2b 1:2d,28,x 1:2e,2b 1:1f,1w',
  '1:1e,26,1w,2b,1v,2a 1:1e,23 1:1g,23 1:1k,23 1:1h,1a,1d 1:1j,1a,1d 1:1e,1e,1a,1e 1:1i,1c,28 1:1d,1e,1c,28 1:1w',
  '1:20,1v 1:20,1w,2a 1:20,21,2a,1x,2b 1:24,27,2b,2b,24,1x,2b,2b 1:2b,20,2e 1:2d,20,1w 1:2e,27,1w',
]

let letters: ReadonlyMap<string, string> | undefined

/** Returns the text for each letter that is not its own text. Read when the first address needs it, because few do. */
export function equalLetters(): ReadonlyMap<string, string> {
  letters ??= readRuns(RUNS.join(' '))
  return letters
}

/**
 * Reads runs of successive letters with successive texts. A run has three parts, in base 36:
 * - the distance of its first letter from the last letter of the run before,
 * - after a plus, the number of further letters,
 * - after a colon, the code points of the first text.
 */
function readRuns(runs: string): Map<string, string> {
  const read = new Map<string, string>()
  const numberIn = (digits: string) => Number.parseInt(digits, 36)
  let letter = 0
  for (const run of runs.split(' ')) {
    const [letters, texts] = run.split(':') as [string, string]
    const [distance, more] = letters.split('+') as [string, string?]
    const codes = texts === '' ? [] : texts.split(',').map(numberIn)
    letter += numberIn(distance)
    const last = more ? letter + numberIn(more) : letter
    read.set(String.fromCodePoint(letter), String.fromCodePoint(...codes))
    while (letter < last) {
      letter++
      codes[0] = (codes[0] ?? 0) + 1
      read.set(String.fromCodePoint(letter), String.fromCodePoint(...codes))
    }
  }
  return read
}
