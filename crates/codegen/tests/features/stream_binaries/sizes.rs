const _: () = assert!(size_of::<xmlmime::Base64Binary>() <= 56 && 56 <= 1024);
const _: () = assert!(size_of::<Photos>() <= 80 && 80 <= 1024);
