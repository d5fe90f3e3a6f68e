const _: () = assert!(size_of::<Plain>() <= 32 && 32 <= 1024);
const _: () = assert!(size_of::<Name>() <= 96 && 96 <= 1024);
const _: () = assert!(size_of::<Value>() <= 120 && 120 <= 1024);
