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
/// <param name="indexToReach">The last index of the journal at the start. Until its entry is applied again, rows may be
/// missing in the tables, so nothing is deleted. Afterwards all files are compared with the rows.</param>
internal sealed class ContentGarbage(StorageEngine storage, ContentDirectory files, long indexToReach)
{
    private const int MaxReleased = 64 << 10;
    private const long NoSweep = long.MaxValue;

    private readonly object _gate = new();
    private readonly Dictionary<ContentPlace, int> _pins = [];
    private readonly ConcurrentQueue<(ContentPlace Place, long Index)> _released = new(); // to compare once applied
    private ContentPlace? _deleting;
    private int _holds;
    private IEnumerator<ContentPlace>? _sweep;
    private bool _hasSwept; // since the start
    private long _sweepIndex = NoSweep; // applied index from which on a sweep is due
    private long _lastSweepIndex; // of the latest request

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

    /// <summary>Pins a content, and waits while its file is being deleted.</summary>
    public void Pin(ContentPlace place)
    {
        lock (_gate)
        {
            while (_deleting == place)
            {
                Monitor.Wait(_gate);
            }

            _pins[place] = _pins.GetValueOrDefault(place) + 1;
        }
    }

    /// <summary>Ends a pin.</summary>
    public void Unpin(ContentPlace place)
    {
        lock (_gate)
        {
            int left = _pins[place] - 1;
            if (left > 0)
            {
                _pins[place] = left;
                return;
            }

            _pins.Remove(place);
        }

        Release(place, storage.AppliedIndex); // its command may have been refused
    }

    /// <summary>Prevents deletions until the result is disposed: a backup reads the files.</summary>
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
    /// Compares up to <paramref name="maxFiles"/> contents with their rows, and deletes those without references. Call
    /// it on one thread.
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
            _sweep = files.List(static _ => { }).GetEnumerator(); // the next start lists the rest
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

    // The row is read after the content is marked: an upload that pins it earlier prevents the deletion, and one that
    // pins it later waits for the deletion and gives its file the name afterwards.
    private void DeleteIfUnused(ContentPlace place)
    {
        lock (_gate)
        {
            if (_pins.ContainsKey(place))
            {
                return; // released again when the pin ends
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
