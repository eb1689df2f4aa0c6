using System.Text.Json;
using Rookery.Platform;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.SetBased;

/// <summary>One change by query: its progress and result.</summary>
/// <param name="database">Number of the operation's database.</param>
/// <param name="id">The operation's number.</param>
/// <param name="query">Text of the query, for the result.</param>
/// <param name="memory">Reserves the memory of the details while the operation is kept.</param>
internal sealed class SetOperation(uint database, long id, string query, MemoryShare memory)
    : LongOperation(database, id)
{
    private const int BytesPerDetail = 160;

    // Details are kept after the operation ends. A higher limit would leave too little memory for other operations and
    // queries.
    private readonly long _maxBytes = memory.LimitBytes / 4;

    private readonly List<(string Id, string ChangeVector, string Status)> _details = [];
    private long _total;
    private long _processed;
    private long _reservedBytes;

    /// <summary>Number of matching documents when they were counted; at least <see cref="Processed"/>.</summary>
    public long Total
    {
        get => Math.Max(Interlocked.Read(ref _total), Processed);
        set => Interlocked.Exchange(ref _total, value);
    }

    /// <summary>Documents processed so far.</summary>
    public long Processed => Interlocked.Read(ref _processed);

    /// <inheritdoc/>
    public override long HeldBytes => sizeof(char) * (long)query.Length;

    /// <inheritdoc/>
    public override long ReservedBytes => Interlocked.Read(ref _reservedBytes);

    /// <summary>Adds to <see cref="Processed"/>.</summary>
    public void AddProcessed(int documents) => Interlocked.Add(ref _processed, documents);

    /// <summary>Records the outcome of one document.</summary>
    /// <returns>False if there is no memory for it, or the operation holds as much as it may.</returns>
    public bool TryAddDetail(string id, string changeVector, string status)
    {
        long bytes = BytesPerDetail + (2L * (id.Length + changeVector.Length));
        if (Interlocked.Read(ref _reservedBytes) + bytes > _maxBytes || !memory.TryReserveFromCaches(bytes))
        {
            return false;
        }

        lock (_details)
        {
            Interlocked.Add(ref _reservedBytes, bytes);
            _details.Add((id, changeVector, status));
        }

        return true;
    }

    public override void WriteProgress(Utf8JsonWriter json)
    {
        json.WriteNumber("Total"u8, Total);
        json.WriteNumber("Processed"u8, Processed);
    }

    public override void WriteResult(Utf8JsonWriter json)
    {
        json.WriteString("Query"u8, query);
        json.WriteNumber("Total"u8, Processed);
        json.WriteNumber("DocumentsProcessed"u8, Processed);
        json.WriteStartArray("Details"u8);
        lock (_details)
        {
            foreach (var (document, changeVector, status) in _details)
            {
                json.WriteStartObject();
                json.WriteString("Id"u8, document);
                json.WriteString("ChangeVector"u8, changeVector.Length == 0 ? null : changeVector);
                json.WriteString("Status"u8, status);
                json.WriteEndObject();
            }
        }

        json.WriteEndArray();
    }

    protected override void ReleaseResult()
    {
        lock (_details)
        {
            _details.Clear();
            memory.Release(Interlocked.Exchange(ref _reservedBytes, 0));
        }
    }
}
