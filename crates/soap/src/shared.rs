//! A service that requests share.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;
use std::thread::available_parallelism;

use castile_budget::thread_number;

/// The most handles of a service.
const HANDLES: usize = 64;

/// A service, for a request that uses it. Clones count their references in a place that other threads don't use, as a rule.
pub struct Shared<T>(Arc<Handle<T>>);

/// Alone in its cache lines, with the count of its references. Processors fetch two lines at a time.
#[repr(align(128))]
struct Handle<T>(Arc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Shared(self.0.clone())
    }
}

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.0
    }
}

/// A service with a handle for each thread that the machine runs at a time: each request takes a reference, and cores would wait for a
/// count that all of them change.
pub struct Handles<T>(Box<[Shared<T>]>);

impl<T> Handles<T> {
    /// Creates the handles of a service.
    pub fn new(service: T) -> Self {
        let service = Arc::new(service);
        let handles = available_parallelism().map_or(1, usize::from).min(HANDLES);
        Handles((0..handles).map(|_| Shared(Arc::new(Handle(service.clone())))).collect())
    }

    /// Returns the handle of this thread, which it may share with others.
    pub fn of_thread(&self) -> Shared<T> {
        self.0[thread_number() % self.0.len()].clone()
    }
}

impl<T> fmt::Debug for Handles<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handles").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::SeqCst;

    use super::*;

    #[test]
    fn all_threads_have_the_service_and_counts_of_their_own() {
        let handles = Handles::new(AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..100 {
                scope.spawn(|| handles.of_thread().fetch_add(1, SeqCst));
            }
        });
        assert_eq!(handles.of_thread().load(SeqCst), 100);
        let held: Vec<_> = (0..1_000).map(|_| handles.of_thread()).collect();
        // The service counts its handles, and the handles count the requests.
        let Shared(first) = &handles.0[0];
        assert_eq!(Arc::strong_count(&first.0), handles.0.len());
        let counted: usize = handles.0.iter().map(|handle| Arc::strong_count(&handle.0)).sum();
        assert_eq!(counted, handles.0.len() + held.len());
    }

    #[test]
    fn the_service_is_dropped_with_its_last_request() {
        let service = Arc::new(());
        let handles = Handles::new(service.clone());
        let request = handles.of_thread();
        drop(handles);
        assert_eq!(Arc::strong_count(&service), 2);
        drop(request);
        assert_eq!(Arc::strong_count(&service), 1);
    }
}
