using Rookery.Documents.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Backups;

/// <summary>Takes backups and restores them on a simulated disk.</summary>
internal static class BackedUp
{
    public const string Node = "/data/node";
    public const string Backup = "/backups/one";
    public const string Restored = "/data/restored";

    private static readonly SimulatedTimeProvider Time = new();

    /// <summary>
    /// Creates a node with two databases: Shop with documents in runs and documents only in the journal, and Other with
    /// a document that is too large for a row and a small one only in the journal.
    /// </summary>
    public static SteppedNode NewNode(IDisk disk, int documents = 300)
    {
        var node = SteppedNode.Open(disk, Node);
        node.CreateDatabase("Shop");
        node.CreateDatabase("Other");
        for (int i = 0; i < documents; i++)
        {
            node.Put("Shop", $"d/{i}", $$"""{"n":{{i}},"text":"{{new string('x', i % 700)}}"}""");
            if (i == documents / 2)
            {
                node.Put("Other", "large", $$"""{"text":"{{new string('y', 100_000)}}"}""");
                node.Flush();
            }
        }

        node.Put("Other", "small", """{"a":1}""");
        return node;
    }

    /// <summary>Writes a backup of a node. Each piece is written as <paramref name="change"/> returns it.</summary>
    public static void Take(SteppedNode node, IDisk disk, Func<BackupPiece, BackupPiece>? change = null)
    {
        using var writer = new BackupWriter(disk, Backup);
        using var backup = node.Core.BeginBackup();
        foreach (var piece in backup.Read())
        {
            writer.TryWritePiece(change is null ? piece : change(piece));
        }

        writer.Complete(new MemoryBudget(16 << 20), NoRecorder.Instance, Time);
    }

    /// <summary>Restores the backup. Returns the databases with their numbers of documents.</summary>
    public static IReadOnlyList<(string Name, long Documents)> Restore(IDisk disk, string? onlyDatabase = null) =>
        new Restoration(disk, SteppedNode.Options(Restored), new MemoryBudget(16 << 20), NoRecorder.Instance, Time).Run(
            Backup,
            onlyDatabase
        );
}
