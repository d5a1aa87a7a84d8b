import { canonicalAccountName } from '../rules/account-name.ts';

/**
 * Common passwords, in lower case, that the list of @zxcvbn-ts/language-common lacks. Only 308 of its 49,233 have at least twelve
 * characters, the default minimum; at that length, common passwords are runs of digits or keys, and a few words with a year or a
 * number.
 */
const longer = `
1234567890123 12345678901234 123456789012345 1234567890123456 1234567891011 123456789101112 0123456789
012345678901 0987654321 9876543210 987654321 987654321012 098765432109 111111111111 000000000000 00000000
1111111111 0000000000 121212121212 123123123 123123123123 123412341234 123451234512345 123456123456
112233445566778899 abcdefgh abcdefghi abcdefghij abcdefghijkl abcdefghijklm abcdefghijklmnop
abcdefghijklmnopqrstuvwxyz abcdef123456 abc123abc123 abcd12345678 a1b2c3d4e5f6 a12345678901 1a2b3c4d5e6f
1234abcd1234 1234567890abc 1234567890ab 123456abcdef qwertyuiop1234 qwertyuiop[] qwertyuiopasdf qwertyuiopas
qwertyuiopasdfgh qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwerty1234567 qwerty12345678 qwerty1234567890
qwertyqwerty qwerty123qwerty qwerty654321 qwertyuiop1234567890 qwertzuiop qwertzuiopas qwertzuiop123
azertyuiop123 azertyuiopqs asdfghjkl; asdfghjkl1234 asdfghjklqwe asdfasdfasdf asdfghjklzxcvbnm zxcvbnm12345
zxcvbnmasdfghjkl zxcvbnm,./ zaq1zaq1zaq1 !qaz2wsx3edc !qaz@wsx#edc 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i
1q2w3e4r5t6y7u8i9o0p qweasdqweasd 12341234 1234qwer1234 password12345 password123456 password1234567
password12345678 password123456789 password1234567890 password1! password12! password123! password1234!
password@123 password@1234 passwordpassword1 password1password password2020 password2021 password2022
password2023 password2024 password2025 password2026 passw0rd123 passw0rd1234 p@ssw0rd1 p@ssw0rd12 p@ssw0rd123
p@ssw0rd1234 p@ssw0rd12345 p@ssw0rd123456 p@ssword p@ssword123 p@ssword1234 pa$$w0rd123 pa$$w0rd1234
pa$$word1234 pass12345678 passphrase passphrase123 mypassword1 mypassword12 mypassword123 mypassword1234
thisismypassword newpassword1 newpassword12 newpassword123 changeme123 changeme1234 changemenow changemeplease
defaultpassword default12345 secretpassword secret123456 supersecret supersecret1 supersecret123 topsecret123
verysecret123 letmein1234 letmein12345 letmein123456 letmeinletmein letmeinplease welcome1234 welcome12345
welcome123456 welcome@123 welcome@1234 welcomewelcome welcome2020 welcome2021 welcome2022 welcome2023
welcome2024 welcome2025 welcome2026 administrator1 administrator123 administrator1! admin1234 admin12345
admin123456 admin1234567 admin12345678 admin123456789 admin@123 admin@1234 admin@12345 admin@123456 adminadmin
adminadminadmin adminpassword adminpassword1 adminpassword123 rootpassword rootrootroot root12345678
toortoortoor testtesttest test12345678 test123456789 testpassword testpassword1 testpassword123 testing12345
testing123456 temporary123 temppassword1 temppassword123 guestguestguest guestpassword userpassword
userpassword1 user12345678 master123456 masterpassword iloveyou1234 iloveyou12345 iloveyouiloveyou
iloveyousomuch iloveyouforever iloveyoubaby ilovejesus123 jesuschrist1 sunshine123 sunshine1234 sunshine12345
princess123 princess1234 princess12345 football1234 football12345 baseball123 baseball1234 superman1234
batman123456 starwars1234 pokemon123456 dragon123456 monkey123456 shadow123456 michael123456 jennifer1234
computer123 computer1234 computer12345 internet123 internet1234 whatever123 whatever1234 trustno1trustno1
nothing12345 samsung12345 google123456 facebook1 facebook123 facebook1234 facebook12345 liverpool123
liverpool1234 manchester123 manchesterunited chelsea12345 barcelona123 barcelona1234 realmadrid123 arsenal12345
letmein! hello12345 hello123456 helloworld1 helloworld12 helloworld123 hellohellohello summer2020 summer2021
summer2022 summer2023 summer2024 summer2025 summer2026 winter2020 winter2021 winter2022 winter2023 winter2024
winter2025 winter2026 spring2024 spring2025 spring2026 autumn2024 autumn2025 autumn2026 company12345
company123456
`;

const known: ReadonlySet<string> = new Set(longer.trim().split(/\s+/));

/**
 * True if a password is common; `canonical` is the password in the canonical form of account-name.ts, so case doesn't matter. The
 * first call loads the package's list: 16 MiB and 50 ms that a gateway where no password is ever set doesn't need. A search of
 * the list takes 0.15 ms, next to the 20 ms of a hash.
 */
export async function isCommonPassword(canonical: string): Promise<boolean> {
  if (known.has(canonical)) return true;
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  return dictionary['passwords-common'].includes(canonical);
}

/** The fault of a password that equals the user name. */
export const passwordIsName = 'must not be the user name';

/** The fault of a password whose length is right; undefined if it has none. `username` is null if it is not known. */
export async function passwordFault(password: string, username: string | null): Promise<string | undefined> {
  if (username !== null && isUserName(password, username)) return passwordIsName;
  return (await isCommonPassword(canonicalAccountName(password)))
    ? 'must not be a common password'
    : undefined;
}

/** True if a password is the user's name, whatever its case, spelling and outer spaces. */
export function isUserName(password: string, username: string): boolean {
  return canonicalAccountName(password) === canonicalAccountName(username);
}
