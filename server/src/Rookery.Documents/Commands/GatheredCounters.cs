using System.Text;
using Rookery.Documents.Databases;

namespace Rookery.Documents.Commands;

/// <summary>
/// Gathers the operations on counters of a bulk insert by document, so that a document is rewritten once for all of
/// them, however they are mixed in the stream. They follow the documents of the same command.
/// </summary>
/// <param name="database">The database, in which the lengths of the documents are looked up.</param>
public sealed class GatheredCounters(Database database) : IDisposable
{
    // The documents that one command rewrites. Several commands may be in one entry of the log: see PatchBudget.
    private const long MaxRewrittenBytes = 4 << 20;

    private readonly Dictionary<string, CounterOperationList> _byId = new(StringComparer.OrdinalIgnoreCase);
    private long _rewrittenBytes;

    /// <summary>Number of operations.</summary>
    public int Count { get; private set; }

    /// <summary>About the number of bytes that the operations take in a command.</summary>
    public int Bytes { get; private set; }

    /// <summary>Whether the command must end, because it rewrites enough.</summary>
    public bool IsFull => _rewrittenBytes >= MaxRewrittenBytes;

    /// <summary>Moves all operations to a batch.</summary>
    public void MoveTo(BatchWriter batch)
    {
        foreach (var (id, counters) in _byId)
        {
            batch.Counters(Encoding.UTF8.GetBytes(id), counters);
            counters.Release();
        }

        _byId.Clear();
        (_rewrittenBytes, Count, Bytes) = (0, 0, 0);
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

    /// <summary>Adds the operations on the counters of one document.</summary>
    internal void Add(ReadOnlySpan<byte> id, CounterOperationList counters)
    {
        string key = Encoding.UTF8.GetString(id);
        if (!_byId.TryGetValue(key, out var own))
        {
            _byId.Add(key, own = new CounterOperationList(Nodes.FormatLevel.Newest));
            _rewrittenBytes += LengthOf(id);
        }

        var operations = counters.Read();
        while (operations.MoveNext())
        {
            own.Add(operations.Kind, operations.Name, operations.Delta);
            Bytes += id.Length + operations.Name.Length + CounterOperationList.OperationBytes;
            Count++;
        }
    }

    // Documents of the commands before this one may not be applied yet; those are short together.
    private long LengthOf(ReadOnlySpan<byte> id)
    {
        using var reader = database.OpenReader();
        if (!reader.TryGetDocument(id, out var document))
        {
            return 0;
        }

        using (document)
        {
            return document.Length;
        }
    }
}
