using System.Collections.Concurrent;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Attachments;

/// <summary>
/// Finds and deletes contents without references. Only rows of applied entries count, and these are committed. An
/// upload pins its content, so that it is not deleted between the end of its file and the entry that names it.
/// </summary>
/// <param name="storage">The rows.</param>
/// <param name="files">The files.</param>
/// <param name="indexToReach">The last index of the journal at the start: until its entries are applied again, rows may
/// be missing in the tables. Nothing is deleted before that. Afterwards all files are compared with the rows.</param>
/// <param name="time">The clock.</param>
internal sealed class ContentGarbage(
    StorageEngine storage,
    ContentDirectory files,
    long indexToReach,
    TimeProvider time
)
{
    private const int MaxReleased = 64 << 10;
    private const long NoSweep = long.MaxValue;

    private readonly object _gate = new();
    private readonly ContentPins _pins = new(time);

    // Contents that may have lost their last reference. Each is compared with its row once its index is applied.
    private readonly ConcurrentQueue<(ContentPlace Place, long Index)> _released = new();
    private ContentPlace? _deleting;
    private int _holds;
    private IEnumerator<ContentPlace>? _sweep;
    private bool _hasSwept; // since the start
    private long _sweepIndex = NoSweep; // a sweep is due once this index is applied
    private long _lastSweepIndex; // the highest index of all requests

    /// <summary>Number of contents that uploads pin.</summary>
    public int Pins
    {
        get
        {
            lock (_gate)
            {
                return _pins.Count;
            }
        }
    }

    /// <summary>
    /// Reports that a content may have lost its last reference in the entry that is being applied.
    /// </summary>
    public void Release(ContentPlace place) => Release(place, storage.AppliedIndex + 1);

    /// <summary>Requests that all files are compared with the rows, after the entry that is being applied is
    /// visible.</summary>
    public void RequestSweep()
    {
        lock (_gate)
        {
            RequestSweep(storage.AppliedIndex + 1);
        }
    }

    /// <summary>Requests that all files are compared with the rows now, because another state was installed.</summary>
    public void RequestSweepNow()
    {
        lock (_gate)
        {
            RequestSweep(storage.AppliedIndex);
        }
    }

    /// <summary>Releases the contents whose leases ended, and those whose entries are applied.</summary>
    public void ReleaseEnded()
    {
        List<ContentPlace>? ended;
        long applied = storage.AppliedIndex;
        lock (_gate)
        {
            ended = _pins.TakeEnded(applied);
        }

        ended?.ForEach(place => Release(place, applied));
    }

    /// <summary>Pins a content, and waits while its file is being deleted.</summary>
    public void Pin(ContentPlace place)
    {
        lock (_gate)
        {
            while (_deleting == place)
            {
                Monitor.Wait(_gate);
            }

            _pins.Pin(place);
        }
    }

    /// <summary>Ends a pin.</summary>
    public void Unpin(ContentPlace place) => EndPin(place, leases: false);

    /// <summary>Ends a pin. With <paramref name="leases"/>, leases the content, which must be durable.</summary>
    public void EndPin(ContentPlace place, bool leases)
    {
        lock (_gate)
        {
            if (leases)
            {
                _pins.Lease(place);
            }

            if (!_pins.Unpin(place) || leases)
            {
                return;
            }
        }

        Release(place, storage.AppliedIndex); // no row may name it, because its command may have been refused
    }

    /// <summary>Pins a content that is known to be durable.</summary>
    public bool TryPinDurable(ContentPlace place)
    {
        lock (_gate)
        {
            if (!_pins.IsDurable(place))
            {
                return false;
            }

            _pins.Pin(place);
            return true;
        }
    }

    /// <summary>Records that a pinned content is durable, until <see cref="EndDurablePin"/>.</summary>
    public void BeginDurable(ContentPlace place)
    {
        lock (_gate)
        {
            _pins.BeginDurable(place);
        }
    }

    /// <summary>Ends a pin of a durable content.</summary>
    public void EndDurablePin(ContentPlace place)
    {
        lock (_gate)
        {
            _pins.EndDurable(place);
        }

        Unpin(place);
    }

    /// <summary>Leases a content that is known to be durable.</summary>
    public bool TryLeaseDurable(ContentPlace place)
    {
        lock (_gate)
        {
            if (!_pins.IsDurable(place))
            {
                return false;
            }

            _pins.Lease(place);
            return true;
        }
    }

    /// <summary>Ends the lease of a content, because it is damaged.</summary>
    public void EndLease(ContentPlace place)
    {
        lock (_gate)
        {
            if (!_pins.EndLease(place))
            {
                return;
            }
        }

        Release(place, storage.AppliedIndex);
    }

    /// <summary>Returns whether a content must not be deleted even if no row names it.</summary>
    public bool IsProtected(ContentPlace place)
    {
        lock (_gate)
        {
            return _pins.IsProtected(place, storage.AppliedIndex);
        }
    }

    /// <summary>Returns whether a content is known to be durable, without a look at the disk.</summary>
    public bool IsDurable(ContentPlace place)
    {
        lock (_gate)
        {
            return _pins.IsDurable(place);
        }
    }

    /// <summary>Keeps a content until an index is applied: an entry of the log names it.</summary>
    public void Keep(ContentPlace place, long index)
    {
        lock (_gate)
        {
            _pins.Keep(place, index);
        }
    }

    /// <summary>Prevents deletions until the result is disposed, because a backup reads the files.</summary>
    public IDisposable Hold()
    {
        lock (_gate)
        {
            _holds++;
            while (_deleting is not null)
            {
                Monitor.Wait(_gate);
            }
        }

        return new Holding(this);
    }

    /// <summary>
    /// Compares up to <paramref name="maxFiles"/> contents with their rows, and deletes those without references: first
    /// the contents that were released, then, if a sweep is due, all files. Call it on one thread.
    /// </summary>
    /// <returns>Whether there may be more to compare now.</returns>
    public bool Collect(int maxFiles)
    {
        long applied = storage.AppliedIndex;
        if (applied < indexToReach || IsHeld)
        {
            return false;
        }

        int seen = 0;
        while (
            seen < maxFiles
            && _released.TryPeek(out var next)
            && next.Index <= applied
            && _released.TryDequeue(out next)
        )
        {
            DeleteIfUnused(next.Place);
            seen++;
        }

        if (_sweep is null && IsSweepDue(applied))
        {
            _sweep = files.List(static _ => { }).GetEnumerator(); // the next start lists what cannot be listed now
        }

        while (_sweep is not null && seen < maxFiles)
        {
            if (_sweep.MoveNext())
            {
                DeleteIfUnused(_sweep.Current);
                seen++;
            }
            else
            {
                _sweep.Dispose();
                _sweep = null;
            }
        }

        return _sweep is not null || (_released.TryPeek(out var left) && left.Index <= applied);
    }

    private void RequestSweep(long index)
    {
        _sweepIndex = Math.Min(_sweepIndex, index);
        _lastSweepIndex = Math.Max(_lastSweepIndex, index);
    }

    // Tests and clears the request under the lock, so that a request that arrives meanwhile stays for the next sweep.
    private bool IsSweepDue(long applied)
    {
        lock (_gate)
        {
            if (_hasSwept && _sweepIndex > applied)
            {
                return false;
            }

            // A later request, of an entry that cannot be seen yet, stays.
            _sweepIndex = _lastSweepIndex > applied ? _lastSweepIndex : NoSweep;
            _hasSwept = true;
            return true;
        }
    }

    private bool IsHeld
    {
        get
        {
            lock (_gate)
            {
                return _holds > 0;
            }
        }
    }

    private void Release(ContentPlace place, long index)
    {
        if (_released.Count < MaxReleased)
        {
            _released.Enqueue((place, index));
        }
        else
        {
            RequestSweep();
        }
    }

    // The row is read after the content is marked as being deleted. An upload that pins the content before the mark
    // prevents the deletion. An upload that pins it later waits for the deletion, and then renames its own file.
    private void DeleteIfUnused(ContentPlace place)
    {
        lock (_gate)
        {
            if (_pins.IsProtected(place, storage.AppliedIndex))
            {
                return; // released again when nothing protects it any more
            }

            if (_holds > 0)
            {
                RequestSweep(storage.AppliedIndex); // due when the last hold ends
                return;
            }

            _deleting = place;
        }

        try
        {
            using var snapshot = storage.OpenSnapshot();
            if (!ContentRows.TryRead(snapshot, place.Database, place.Hash, out _))
            {
                files.Delete(place);
            }
        }
        catch (Exception failure) when (failure is DiskException or DamagedException)
        {
            // The file stays until the next start.
        }
        finally
        {
            lock (_gate)
            {
                _deleting = null;
                Monitor.PulseAll(_gate);
            }
        }
    }

    private sealed class Holding(ContentGarbage garbage) : IDisposable
    {
        private bool _isDisposed;

        public void Dispose()
        {
            lock (garbage._gate)
            {
                garbage._holds -= _isDisposed ? 0 : 1;
                _isDisposed = true;
            }
        }
    }
}
