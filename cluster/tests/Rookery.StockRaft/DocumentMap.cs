using System.Collections.Concurrent;
using System.Text.Json;
using DotNext.IO;
using DotNext.Net.Cluster.Consensus.Raft.StateMachine;

namespace Rookery.StockRaft;

/// <summary>
/// The state machine of a member: documents by id, kept in memory. It takes no snapshots, so a start applies the whole
/// log again; a log entry is a JSON object of ids and documents.
/// </summary>
internal sealed class DocumentMap(DirectoryInfo location) : SimpleStateMachine(location)
{
    private readonly ConcurrentDictionary<string, JsonElement> _documents = new(StringComparer.Ordinal);

    /// <summary>Returns the document with this id, or null when none was applied.</summary>
    public JsonElement? Find(string id) => _documents.TryGetValue(id, out var document) ? document : null;

    protected override ValueTask<bool> ApplyAsync(LogEntry entry, CancellationToken token)
    {
        if (entry.TryGetPayload(out var payload) && payload.Length > 0)
        {
            using var written = JsonDocument.Parse(payload);
            foreach (var document in written.RootElement.EnumerateObject())
            {
                _documents[document.Name] = document.Value.Clone();
            }
        }

        return ValueTask.FromResult(false);
    }

    protected override ValueTask RestoreAsync(FileInfo snapshotFile, CancellationToken token) =>
        throw new NotSupportedException("This program writes no snapshots.");

    protected override ValueTask PersistAsync(IAsyncBinaryWriter writer, CancellationToken token) =>
        throw new NotSupportedException("This program writes no snapshots.");
}
