using System.Text.Json;
using Rookery.Server.Raven.LongOperations;

namespace Rookery.Server.Raven.BulkInsert;

/// <summary>One bulk insert: its progress and result.</summary>
internal sealed class BulkOperation(uint database, long id) : LongOperation(database, id)
{
    private long _total;
    private long _batches;

    public long Total => Interlocked.Read(ref _total);

    /// <summary>The id of the last document in the most recent full chunk; null before the first one.</summary>
    public string? LastProcessedId { get; private set; }

    public void AddBatch(int documents, string? lastId)
    {
        Interlocked.Add(ref _total, documents);
        Interlocked.Increment(ref _batches);
        LastProcessedId = lastId ?? LastProcessedId;
    }

    public override void WriteProgress(Utf8JsonWriter json)
    {
        json.WriteNumber("Total"u8, Total);
        json.WriteNumber("BatchCount"u8, Interlocked.Read(ref _batches));
        json.WriteString("LastProcessedId"u8, LastProcessedId);
        json.WriteNumber("DocumentsProcessed"u8, Total);
    }

    public override void WriteResult(Utf8JsonWriter json) => WriteProgress(json);
}
