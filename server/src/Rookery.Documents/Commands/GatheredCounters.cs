using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Commands;

/// <summary>
/// Gathers the operations on counters of a bulk insert by document, so that each document is rewritten once for all of
/// its operations, in whatever sequence they arrive. In a command, they follow the documents.
/// </summary>
/// <param name="database">The database, in which the lengths of the documents are looked up.</param>
public sealed class GatheredCounters(Database database) : IDisposable
{
    // Bytes of documents that one command may rewrite. Several commands may be in one log entry: see PatchBudget.
    private const long MaxRewrittenBytes = ReplacedNames.MaxBytesOfCommand;

    // By lower-cased id as the database compares ids; each list has the id as the client wrote it.
    private readonly Dictionary<string, CounterOperationList> _byId = new(StringComparer.Ordinal);
    private readonly ReplacedNames _replaced = new(database);
    private long _rewrittenBytes;
    private int _maxCount = int.MaxValue;
    private long _maxBytes = long.MaxValue;

    /// <summary>Number of operations.</summary>
    public int Count { get; private set; }

    /// <summary>Upper bound of the bytes that the operations take in a command.</summary>
    public long Bytes { get; private set; }

    /// <summary>Whether the command must end, because it rewrites as many bytes as it may.</summary>
    public bool IsFull => _rewrittenBytes >= MaxRewrittenBytes;

    /// <summary>Moves all operations to a batch.</summary>
    public void MoveTo(BatchWriter batch)
    {
        foreach (var counters in _byId.Values)
        {
            batch.Counters(counters.DocumentId.Written, counters);
            counters.Release();
        }

        _byId.Clear();
        (_rewrittenBytes, Count, Bytes) = (0, 0, 0);
        (_maxCount, _maxBytes) = (int.MaxValue, long.MaxValue);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        foreach (var counters in _byId.Values)
        {
            counters.Release();
        }

        _byId.Clear();
    }

    /// <summary>Limits what may be gathered to the room that the command has left.</summary>
    public void LimitTo(int count, long bytes) => (_maxCount, _maxBytes) = (count, bytes);

    /// <summary>Adds the operations on the counters of one document until the command is full.</summary>
    /// <param name="id">The document's id.</param>
    /// <param name="counters">The operations.</param>
    /// <param name="offset">Offset of the next operation to add; 0 at first.</param>
    /// <returns>Whether all were added. Otherwise the command must end first; at least one operation was added, so that
    /// callers make progress.</returns>
    internal bool TryAdd(ReadOnlySpan<byte> id, CounterOperationList counters, ref int offset)
    {
        Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
        string key = Encoding.UTF8.GetString(lowerId[..DocumentId.ToLower(id, lowerId)]);
        if (!_byId.TryGetValue(key, out var own))
        {
            _byId.Add(key, own = new CounterOperationList(Nodes.FormatLevel.Newest));
            own.DocumentId.Append(id);

            // 0 for a new document of an earlier command that is not applied yet. All documents of such commands
            // together are short.
            _rewrittenBytes += ReplacedNames.BytesOf(database, id);
            Bytes += CounterOperationList.GroupBytes(id);
        }

        var operations = counters.Read(offset);
        while (operations.MoveNext())
        {
            own.Add(operations.Kind, operations.Name, operations.Delta);
            Bytes += CounterOperationList.BytesOf(operations.Name);
            Count++;
            offset = operations.Offset;
            if (Count >= _maxCount || Bytes >= _maxBytes)
            {
                break;
            }
        }

        return !operations.MoveNext();
    }

    /// <summary>
    /// Counts a put of the same command, which rewrites the names of the stored document's counters.
    /// </summary>
    internal void AddPut(ReadOnlySpan<byte> id) => _rewrittenBytes += _replaced.NameBytesOf(id);
}
