/**
 * Words that users choose most often. Written by hand from what the published rankings of leaked passwords have in common, so it needs no
 * licence and no package.
 */
const WORDS: ReadonlySet<string> = new Set(
  `
  password passw0rd p@ssword p@ssw0rd pa$$word pa$$w0rd pass pwd passwort wordpass drowssap mypassword thisismypassword neversaymypassword
  passphrase contraseña motdepasse parola secret secret123 topsecret letmein letmeinplease opensesame welcome welcomeback changeme changeit
  changethis default temporary temppass newpassword oldpassword admin administrator root toor user username guest login logmein master
  server system manager support service test testing tester demo example sample hello helloworld nothing blahblah asdf asdfasdf
  qwer zxcv trustno1 iloveyou iloveu iloveyousomuch iloveme loveyou loveme lovelove love lover forever foreveryoung ihateyou fuckyou
  fuckoff bullshit blink182 ncc1701d rush2112 4815162342 31415926 3141592653589793 314159265358979 jordan23 letmein1 abc123
  football baseball basketball softball soccer hockey golfer tennis fishing hunter hunting swimming liverpool liverpoolfc arsenal chelsea
  juventus barcelona realmadrid manchester manchesterunited cristianoronaldo messi steelers redskins patriots cowboys dolphins panthers
  yankees lakers redsox redwings eagles wildcats buckeyes tarheels longhorn
  superman batman spiderman spider-man ironman wolverine wolverin captain avengers starwars startrek stargate starcraft pokemon pikachu
  naruto minecraft fortnite roblox warcraft worldofwarcraft nintendo playstation xbox360 godzilla gandalf matrix harrypotter hogwarts
  simpsons garfield snoopy mickey mickeymouse mickymouse donald winnie bobafett darthvader skywalker maytheforcebewithyou
  metallica slipknot nirvana pearljam zeppelin stairwaytoheaven 30secondstomars youngandrestless
  dragon monkey tigger tiger lion eagle falcon wolf wolfpack bulldog bulldogs elephant butterfly dolphin panther mustang ferrari porsche
  mercedes corvette cadillac chevelle yamaha kawasaki firebird stingray
  princess prince queen king angel babygirl babydoll beautiful pretty sweetie sweetpea honey sunshine sunflower summer winter spring autumn
  snowball rainbow flower cookie chocolate cheese banana orange peanut pepper ginger icecream snickers cocacola drpepper coffee
  michael jennifer jessica ashley nicole daniel andrew joshua matthew anthony jonathan alexander alexandra samantha michelle elizabeth
  victoria christina christian christopher benjamin nicholas danielle patricia caroline veronica kimberly charlie jordan thomas robert
  shadow midnight darkness darkside killer hellfire fireball thunder phoenix diamond diamonds platinum silver golden maverick champion
  warrior defender predator assassin rockstar superstar hardcore creative computer internet microsoft windows samsung google facebook
  linkedin twitter instagram youtube android iphone apple freedom america american london paris berlin newyork california texas michigan
  carolina virginia australia canada england scotland pakistan india
  january february march april may june july august september october november december monday friday sunday
  jesus jesuschrist jesuslovesme ilovejesus godisgood godislove blessed heaven
  bigdaddy marlboro scorpion butthead mountain airborne brooklyn williams guinness lasvegas explorer paradise einstein spitfire maryjane
  scarface marshall infinity passport cardinal electric airplane swordfish birthday cheyenne hercules blizzard napoleon
  correcthorsebatterystaple correcthorsebattery incorrect tobeornottobe
  aa12345678 a123456789 123456789a 123456a p455w0rd passw0rd1
  01012000 112233445566 11223344556677 1122334455667788 112233445566778899 11223344556677889900 111222333444 111222333444555 111222333444555666
  122333444455555 1213141516171819 12131415161718 102030405060708090 010203040506070809 123456789101112 1324354657687980 13579 24680
  1357924680 2468013579 147258369 789456123 741852963 159753 1029384756 420420420
  `
    .trim()
    .split(/\s+/),
)

/** Rows, columns and zigzags of keyboards, digits and the alphabet. */
const ROWS = [
  '1234567890',
  'abcdefghijklmnopqrstuvwxyz',
  '1234567890qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
  'azertyuiopqsdfghjklmwxcvbn',
  '1q2w3e4r5t6y7u8i9o0p',
  'q1w2e3r4t5y6u7i8o9p0',
  'a1s2d3f4g5h6j7k8l9',
  'a1b2c3d4e5f6g7h8i9j0',
  '1a2b3c4d5e6f7g8h9i0j',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p',
  'qazwsxedcrfvtgbyhnujmikolp',
  'qazxswedcvfrtgbnhyujm',
  '1qazxsw23edcvfr45tgbnhy67ujm',
  'zaq12wsxcde34rfvbgt56yhn',
  '1qa2ws3ed4rf5tg6yh7uj8ik9ol',
  '12345qwertasdfgzxcvb',
  '1234qwerasdfzxcv',
  '12qwaszx34erdfcv',
  '!@#$%^&*()',
]

const reversed = (row: string) => [...row].reverse().join('')

/** Each row in both directions, and twice, because a run continues at the beginning: `90123`. */
const RUNS = ROWS.flatMap((row) => [row + row, reversed(row + row)])

/** The shortest run that counts as one. */
const SHORTEST_RUN = 3
/** The longest text whose repetition is always common. */
const LONGEST_UNIT = 4
/** The number of words and runs that may follow each other: a guesser tries all passwords of so few. */
const MOST_PARTS = 3
/** The end that users add to a word, such as `1`, `123` or `2026!`. */
const ENDING = /^[\d\p{P}\p{S}]{0,5}$/u

const LONGEST_WORD = Math.max(...[...WORDS].map((word) => word.length))

/**
 * Returns whether a password is one of the most common of its length. Such a password consists of at most three known words or runs of keys,
 * or repeats them, and may end with a number. Letter case, blanks, dots and hyphens make no difference.
 * @param password at most 256 characters
 */
export function isCommon(password: string): boolean {
  const unit = unitOf(password.toLowerCase().replace(/[\s._-]+/g, ''))
  return unit.length <= LONGEST_UNIT || isOfFewParts(unit)
}

/** Returns the shortest text whose repetition is the whole text, of which the last one may be cut. */
function unitOf(text: string): string {
  for (let length = 1; length <= text.length / 2; length++) {
    if (text.startsWith(text.slice(length))) return text.slice(0, length)
  }
  return text
}

function isOfFewParts(text: string): boolean {
  let rest = text
  for (let parts = 0; parts < MOST_PARTS; parts++) {
    rest = rest.slice(Math.max(wordAt(rest), runAt(rest)))
    if (parts === 0 && rest === text) return false
    if (ENDING.test(rest)) return true
  }
  return false
}

/** Returns the length of the longest word at the beginning of a text, or 0. */
function wordAt(text: string): number {
  for (let length = Math.min(LONGEST_WORD, text.length); length > 0; length--) {
    if (WORDS.has(text.slice(0, length))) return length
  }
  return 0
}

/** Returns the length of the longest run at the beginning of a text, or of the same character repeated, or 0. */
function runAt(text: string): number {
  let longest = 0
  while (longest < text.length && text[longest] === text[0]) longest++
  for (const run of RUNS) {
    while (longest < text.length && run.includes(text.slice(0, longest + 1))) longest++
  }
  return longest >= SHORTEST_RUN ? longest : 0
}
