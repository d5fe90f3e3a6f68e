const _: () = assert!(size_of::<Note>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<WriteRequest>() <= 24 && 24 <= 1024);
