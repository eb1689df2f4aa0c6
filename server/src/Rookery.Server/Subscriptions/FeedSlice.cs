using System.Text;
using System.Text.Json;
using Rookery.Documents.Databases;
using Rookery.Documents.Revisions;
using Rookery.Documents.Stored;
using Rookery.Platform;
using Rookery.Queries.Language;
using Rookery.Queries.Subscriptions;
using Rookery.Server.Raven;

namespace Rookery.Server.Subscriptions;

/// <summary>
/// A part of a batch: the messages for the documents that were read from one snapshot, before they are sent. Between
/// two parts no snapshot is open.
/// </summary>
internal sealed class FeedSlice : IDisposable
{
    // Maximum number of documents, and maximum time, to read without a pause for others: a criterion may match few
    // documents, or take long.
    private const int MaxReads = 2048;
    private static readonly TimeSpan MaxTime = TimeSpan.FromMilliseconds(100);

    private delegate void WriteWhole<TDocument>(
        TDocument document,
        ResponseBuffer output,
        ReadOnlySpan<byte> historyId
    );

    private readonly ResponseBuffer _buffer = ResponseBuffer.Rent();
    private readonly BatchIncludes _includes;
    private readonly MemoryShare _memory;
    private readonly byte[] _historyId;
    private readonly bool _sendsDocuments;
    private readonly TimeProvider _time;
    private long _begunAt;
    private int _reads;
    private int _documentsLeft;
    private long _heldBytes;
    private long _lastHeldBytes; // for the document that was reserved last

    /// <summary>Creates a slice for a connection, which uses it again and again.</summary>
    public FeedSlice(
        Database database,
        SubscriptionCriteria criteria,
        BatchIncludes includes,
        MemoryShare memory,
        TimeProvider time
    )
    {
        (_includes, _memory, _time) = (includes, memory, time);
        _historyId = Encoding.ASCII.GetBytes(database.HistoryId);
        _sendsDocuments = criteria.SendsDocuments;
    }

    /// <summary>Whether the slice takes no more documents.</summary>
    public bool IsFull =>
        _buffer.Length >= ResponseBuffer.PartBytes
        || _documentsLeft == 0
        || _reads >= MaxReads
        || LacksMemory
        || (_reads > 0 && _time.GetElapsedTime(_begunAt) >= MaxTime);

    /// <summary>Whether the next document needs more memory than is free.</summary>
    public bool LacksMemory { get; private set; }

    /// <summary>Number of documents in the slice.</summary>
    public int Documents { get; private set; }

    /// <summary>Etag of the last document.</summary>
    public long LastEtag { get; private set; }

    /// <summary>The messages.</summary>
    public ReadOnlyMemory<byte> Messages => _buffer.Written;

    /// <summary>Empties the slice.</summary>
    /// <param name="documents">Documents that it may take.</param>
    public void Begin(int documents)
    {
        _buffer.Truncate(0);
        _buffer.Trim();
        _memory.Release(_heldBytes);
        _heldBytes = _lastHeldBytes = 0;
        _reads = Documents = 0;
        _documentsLeft = documents;
        _begunAt = _time.GetTimestamp();
        LacksMemory = false;
    }

    /// <summary>Reserves the memory of a large document, before it is read.</summary>
    /// <returns>False if it is not free now.</returns>
    public bool TryReserve(long length)
    {
        _reads++;
        _lastHeldBytes = 0;
        return TryExtend(length);
    }

    /// <summary>Reserves more memory for the document that was reserved last, because it has become longer.</summary>
    /// <param name="length">Its whole length.</param>
    /// <returns>False if it is not free now.</returns>
    public bool TryExtend(long length)
    {
        if (length <= MemoryShare.BytesWithoutReservation)
        {
            return true;
        }

        // As stored, as JSON in the buffer, and for following the includes. Not more than the share can ever grant,
        // beside what the document's script holds: otherwise the subscription would stop at this document.
        long bytes = Math.Min(3 * length, _memory.LimitBytes / 2) - _lastHeldBytes;
        if (!_memory.TryReserveFromCaches(bytes))
        {
            LacksMemory = true;
            return false;
        }

        _heldBytes += bytes;
        _lastHeldBytes += bytes;
        return true;
    }

    /// <summary>Releases what was reserved last, for a document that is not in the slice.</summary>
    public void ReleaseLast()
    {
        _memory.Release(_lastHeldBytes);
        _heldBytes -= _lastHeldBytes;
        _lastHeldBytes = 0;
    }

    /// <summary>Adds the current document of a cursor, if it matches.</summary>
    public bool Send(in DatabaseReader reader, DocumentCursor cursor, SubscriptionRun run) =>
        Send(reader, cursor.View, cursor.Etag, run, cursor, static (all, to, history) => all.Write(to, history));

    /// <summary>Adds the current revision with the one before it, if they match.</summary>
    public bool Send(in DatabaseReader reader, RevisionPairs pairs, SubscriptionRun run) =>
        Send(reader, pairs.ReadPair(), pairs.Etag, run, pairs, static (all, to, history) => all.Write(to, history));

    /// <summary>Adds a document, if it matches.</summary>
    public bool Send(in DatabaseReader reader, in Document document, SubscriptionRun run) =>
        Send(reader, document.View, document.Etag, run, document, static (all, to, history) => all.Write(to, history));

    /// <inheritdoc/>
    public void Dispose()
    {
        _memory.Release(_heldBytes);
        _buffer.Dispose();
    }

    private void Count(long etag)
    {
        LastEtag = etag;
        Documents++;
        _documentsLeft--;
    }

    // The client gives the exception to the subscriber when it reads this item of the batch.
    private bool Send<TDocument>(
        in DatabaseReader reader,
        in DocumentView view,
        long etag,
        SubscriptionRun run,
        TDocument document,
        WriteWhole<TDocument> writeWhole
    )
    {
        int start = _buffer.Length;
        try
        {
            if (!run.Matches(reader, view, etag))
            {
                return false;
            }

            _buffer.Write("{\"Type\":\"Data\",\"Data\":"u8);
            if (_sendsDocuments)
            {
                writeWhole(document, _buffer, _historyId);
            }
            else
            {
                run.WriteSelected(reader, view, etag, _buffer);
            }

            _buffer.Write("}"u8);
        }
        catch (QueryException failure)
        {
            _buffer.Truncate(start);
            if (run.LackedMemory)
            {
                LacksMemory = true;
                return false;
            }

            WriteFailure(run, view, etag, failure);
            Count(etag);
            return true;
        }

        if (!_includes.TryCollect(view))
        {
            _buffer.Truncate(start);
            LacksMemory = true;
            return false;
        }

        Count(etag);
        return true;
    }

    private void WriteFailure(SubscriptionRun run, in DocumentView view, long etag, QueryException failure)
    {
        _buffer.Write("{\"Type\":\"Data\",\"Data\":{"u8);
        run.WriteMetadata(view, etag, _buffer, isProjection: false);
        _buffer.Write("},\"Exception\":\""u8);
        _buffer.Write(JsonEncodedText.Encode(failure.Message).EncodedUtf8Bytes);
        _buffer.Write("\"}"u8);
    }
}
