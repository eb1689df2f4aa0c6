using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Revisions;
using Rookery.Queries.Subscriptions;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// Hands the documents of one subscription to its workers, in the order of their last write, and finds the progress
/// when workers acknowledge. Not thread-safe: <see cref="Turn"/> admits one caller at a time.
/// </summary>
/// <remarks>
/// With one worker, the progress is the last document that was read. Several workers share the documents: each document
/// that is out or has to be sent again is in a list, and the progress is below the first of them. A document that
/// changes while it is out with one worker is not sent to another one before it is acknowledged.
/// </remarks>
internal sealed class DocumentFeed(Database database, SubscriptionCriteria criteria, bool isShared, long progress)
    : IDisposable
{
    // Documents that may be pending. Each costs memory that nothing reserves.
    private const int MaxPending = 1 << 15;

    // The documents that are out, or have to be sent again.
    private readonly SortedDictionary<long, Pending> _pending = [];

    // Shared only: lower-cased ids of documents that are out, and of those that changed meanwhile.
    private readonly Dictionary<string, long> _outEtags = new(StringComparer.Ordinal);
    private readonly Dictionary<string, long> _changedEtags = new(StringComparer.Ordinal);
    private readonly byte[] _collection = Encoding.UTF8.GetBytes(criteria.Collection ?? string.Empty);

    /// <summary>Admits one caller.</summary>
    public SemaphoreSlim Turn { get; } = new(1);

    /// <summary>Admits one acknowledgement, so that they reach the log in their order.</summary>
    public SemaphoreSlim AcknowledgementTurn { get; } = new(1);

    /// <summary>Wakes workers that wait for documents of others.</summary>
    public FeedSignal Signal { get; } = new();

    /// <summary>Version of the subscription by whose query the documents are chosen.</summary>
    public required long Version { get; init; }

    /// <summary>The progress that the log contains.</summary>
    public long Stored { get; set; } = progress;

    /// <summary>All documents up to this etag were read.</summary>
    public long Scanned { get; private set; } = progress;

    /// <summary>Number of documents since the last stored progress that do not match.</summary>
    public int Skipped { get; private set; }

    /// <summary>Whether documents are out, or have to be sent again.</summary>
    public bool HasPending => _pending.Count > 0;

    /// <summary>Whether no further document is read until a worker acknowledges some.</summary>
    public bool IsFull => _pending.Count >= MaxPending;

    /// <summary>
    /// The progress after the acknowledgements so far: all documents up to it are processed or do not match.
    /// </summary>
    public long Progress => _pending.Count > 0 ? Math.Max(FirstPending() - 1, Stored) : Scanned;

    /// <summary>
    /// Reads documents, up to a limit of the slice or to the end.
    /// </summary>
    /// <param name="worker">Receives the documents.</param>
    /// <param name="run">Evaluates the criteria.</param>
    /// <param name="slice">Receives the messages, and limits the work.</param>
    /// <returns>Whether the end of the documents was reached, or the feed is full.</returns>
    public bool Read(object worker, SubscriptionRun run, FeedSlice slice)
    {
        using var reader = database.OpenReader();
        if (criteria.OfRevisions)
        {
            return ReadRevisions(reader, run, slice);
        }

        if (isShared && !SendAgain(reader, worker, run, slice))
        {
            return false;
        }

        using var cursor = criteria.Collection is null
            ? reader.SeekByEtag(Scanned)
            : reader.SeekByCollection(_collection, Scanned);
        while (!slice.IsFull)
        {
            if (IsFull)
            {
                return true;
            }

            if (!cursor.MoveNext(out bool isPresent))
            {
                Scanned = Math.Max(Scanned, reader.Sequence);
                return true;
            }

            if (!slice.TryReserve(isPresent ? cursor.Length : 0))
            {
                return false; // read again from the same document when memory is free
            }

            if (!isPresent)
            {
                Skipped++;
                Scanned = cursor.Etag;
                continue;
            }

            if (isShared && IsOut(cursor.Head.Id, cursor.Etag))
            {
                slice.ReleaseLast();
            }
            else if (slice.Send(reader, cursor, run))
            {
                AddPending(worker, cursor.Etag, cursor.Head.Id);
            }
            else if (slice.LacksMemory)
            {
                return false;
            }
            else
            {
                slice.ReleaseLast();
                Skipped++;
            }

            // Last: if sending fails, another worker of the shared feed reads this document.
            Scanned = cursor.Etag;
        }

        return false;
    }

    // Revisions are not shared: a worker that reads them is alone.
    private bool ReadRevisions(in DatabaseReader reader, SubscriptionRun run, FeedSlice slice)
    {
        using var pairs = new RevisionPairs(reader, criteria.Collection, Scanned);
        while (!slice.IsFull)
        {
            if (!pairs.MoveNext())
            {
                Scanned = Math.Max(Scanned, reader.Sequence);
                return true;
            }

            bool isRevision = pairs.TryRead();
            bool hasMemory =
                slice.TryReserve(isRevision ? RevisionReader.Copies * pairs.Length : 0)
                && (!isRevision || TrySend(reader, pairs, run, slice));
            if (!hasMemory)
            {
                return false; // read again from the same revision when memory is free
            }

            Scanned = pairs.Etag;
        }

        return false;
    }

    // Returns false if no memory is free now.
    private bool TrySend(in DatabaseReader reader, RevisionPairs pairs, SubscriptionRun run, FeedSlice slice)
    {
        pairs.ReadPrevious();
        if (!slice.TryExtend(RevisionReader.Copies * pairs.Length))
        {
            return false;
        }

        if (slice.Send(reader, pairs, run))
        {
            return true;
        }

        if (slice.LacksMemory)
        {
            return false;
        }

        slice.ReleaseLast();
        Skipped++;
        return true;
    }

    /// <summary>Removes the documents that a worker has processed.</summary>
    public void Acknowledge(object worker)
    {
        foreach (var (etag, pending) in _pending.ToArray())
        {
            if (ReferenceEquals(pending.Worker, worker))
            {
                _pending.Remove(etag);
                _outEtags.Remove(pending.LowerId);
                _changedEtags.Remove(pending.LowerId);
            }
        }
    }

    /// <summary>Marks the documents of a worker that left, so that others receive them.</summary>
    public void Return(object worker)
    {
        foreach (var pending in _pending.Values)
        {
            if (ReferenceEquals(pending.Worker, worker))
            {
                pending.Worker = null;
                _outEtags.Remove(pending.LowerId);
                _changedEtags.Remove(pending.LowerId);
            }
        }
    }

    /// <summary>Records the progress that the log contains now.</summary>
    public void SetStored(long etag)
    {
        Stored = etag;
        Skipped = 0;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        Turn.Dispose();
        AcknowledgementTurn.Dispose();
    }

    private long FirstPending()
    {
        using var first = _pending.GetEnumerator();
        return first.MoveNext() ? first.Current.Key : long.MaxValue;
    }

    /// <summary>Sends documents again that others left, or that changed while they were out.</summary>
    /// <returns>False if the slice is full.</returns>
    private bool SendAgain(in DatabaseReader reader, object worker, SubscriptionRun run, FeedSlice slice)
    {
        List<long>? gone = null;
        foreach (var (etag, pending) in _pending)
        {
            if (pending.Worker is not null || _outEtags.ContainsKey(pending.LowerId))
            {
                continue;
            }

            if (slice.IsFull)
            {
                break;
            }

            if (!TrySendAgain(reader, etag, pending.LowerId, run, slice, out bool isSent))
            {
                break; // no memory now
            }

            if (isSent)
            {
                pending.Worker = worker;
                _outEtags[pending.LowerId] = etag;
            }
            else
            {
                (gone ??= []).Add(etag); // deleted, changed since, or it does not match
            }
        }

        gone?.ForEach(etag => _pending.Remove(etag));
        return !slice.IsFull;
    }

    private static bool TrySendAgain(
        in DatabaseReader reader,
        long etag,
        string lowerId,
        SubscriptionRun run,
        FeedSlice slice,
        out bool isSent
    )
    {
        isSent = false;
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(lowerId), out var document))
        {
            return true;
        }

        using (document)
        {
            if (document.Etag != etag)
            {
                return true;
            }

            if (!slice.TryReserve(document.Length))
            {
                return false;
            }

            isSent = slice.Send(reader, document, run);
            if (!isSent)
            {
                slice.ReleaseLast();
            }

            return !slice.LacksMemory;
        }
    }

    // Whether some worker has a version of the document that it has not acknowledged. The newer version is sent after
    // the acknowledgement.
    private bool IsOut(ReadOnlySpan<byte> id, long etag)
    {
        string lower = LowerOf(id);
        if (!_outEtags.ContainsKey(lower))
        {
            return false;
        }

        if (_changedEtags.Remove(lower, out long earlier))
        {
            _pending.Remove(earlier);
        }

        _changedEtags[lower] = etag;
        _pending[etag] = new Pending(lower);
        return true;
    }

    private void AddPending(object worker, long etag, ReadOnlySpan<byte> id)
    {
        if (!isShared)
        {
            return;
        }

        string lower = LowerOf(id);
        _pending[etag] = new Pending(lower) { Worker = worker };
        _outEtags[lower] = etag;
    }

    private static string LowerOf(ReadOnlySpan<byte> id)
    {
        Span<byte> lower = stackalloc byte[2 * DocumentId.MaxBytes];
        return Encoding.UTF8.GetString(lower[..DocumentId.ToLower(id, lower)]);
    }

    private sealed class Pending(string lowerId)
    {
        public string LowerId => lowerId;

        /// <summary>The worker that has the document; null if it has to be sent again.</summary>
        public object? Worker { get; set; }
    }
}
