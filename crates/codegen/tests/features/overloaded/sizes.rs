const _: () = assert!(size_of::<AddRequest>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<AddResponse>() <= 24 && 24 <= 1024);
const _: () = assert!(size_of::<AddRequest2>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<AddResponse2>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<AddRequest3>() <= 4 && 4 <= 1024);
const _: () = assert!(size_of::<AddResponse3>() <= 4 && 4 <= 1024);
