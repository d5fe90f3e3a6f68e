const _: () = assert!(size_of::<Large>() <= 216 && 216 <= 1024);
const _: () = assert!(size_of::<ValueChoiceSequence>() <= 216 && 216 <= 1024);
const _: () = assert!(size_of::<ValueChoice>() <= 16 && 16 <= 1024);
const _: () = assert!(size_of::<Fits>() <= 192 && 192 <= 1024);
const _: () = assert!(size_of::<Larger>() <= 408 && 408 <= 1024);
const _: () = assert!(size_of::<FitsOrDerived>() <= 200 && 200 <= 1024);
const _: () = assert!(size_of::<Value>() <= 48 && 48 <= 1024);
