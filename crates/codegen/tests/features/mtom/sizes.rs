const _: () = assert!(size_of::<xmlmime::Base64Binary>() <= 48 && 48 <= 1024);
const _: () = assert!(size_of::<Photos>() <= 72 && 72 <= 1024);
