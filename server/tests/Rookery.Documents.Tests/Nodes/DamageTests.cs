using System.Text;
using Rookery.Cluster;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Simulation;
using Rookery.Storage;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>
/// Flipped bits in the runs of a node: what its start, an export and each kind of write do about them. Documents
/// contain noise, so that their blocks cannot be compressed and the rows are in many blocks.
/// </summary>
public class DamageTests
{
    internal const string Directory = "/data/node";

    /// <summary>
    /// Documents that the replay of the journal needs are damaged. The node reports it and does not open. An export
    /// reads everything else, any number of times.
    /// </summary>
    [Fact]
    public void Replay_stops_at_damage_and_reports_its_place_and_an_export_skips_it()
    {
        var disk = FillDisk(out int documents);
        int refused = 0;
        int leftOut = 0;
        foreach (string path in disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 2000; offset < Length(disk, path); offset += 3000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                string? diagnosis = DiagnoseStart(damaged, leftOut: null);
                if (diagnosis is null || !diagnosis.Contains("rows of documents from", StringComparison.Ordinal))
                {
                    continue;
                }

                refused++;
                Assert.Contains(path, diagnosis, StringComparison.Ordinal);
                for (int attempt = 0; attempt < 2; attempt++)
                {
                    var commands = new List<string>();
                    using var node = OpenNode(damaged, commands.Add);
                    Assert.Null(node.Diagnosis);
                    var (read, gaps) = ReadAll(node);
                    Assert.Equal("\"new\":true", read["d/100"]);
                    Assert.True(
                        gaps.Count > 0 || read.Count == documents,
                        $"{path} at {offset}: all documents are read or a gap is reported, not {read.Count} and no gap"
                    );
                    Assert.All(gaps, gap => Assert.Equal(path, gap.File));
                    Assert.All(commands, command => Assert.Contains(path, command, StringComparison.Ordinal));
                    Assert.Equal(commands.Count == 0, read.ContainsKey("beside"));
                    leftOut += commands.Count;
                }

                Assert.Equal(diagnosis, DiagnoseStart(damaged, leftOut: null));
            }
        }

        Assert.InRange(refused, 1, int.MaxValue);
        Assert.InRange(leftOut, 1, int.MaxValue);
    }

    /// <summary>
    /// The few rows that every start needs are in small runs. A single node cannot get them from another one, so an
    /// export must read the documents without them.
    /// </summary>
    [Fact]
    public void An_export_finds_all_documents_despite_damage_in_rows_that_every_start_reads()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = SteppedNode.Open(disk, Directory))
        {
            for (int round = 0; round < 3; round++)
            {
                node.CreateDatabase($"Shop{round}");
                for (int i = 0; i < 20; i++)
                {
                    node.Put($"Shop{round % 2}", $"d/{round}/{i:D2}", $$"""{"noise":"{{Noise(i, bytes: 250)}}"}""");
                }

                node.CreateDatabase("Passing");
                node.Put("Passing", "gone", "{}");
                node.Flush();
                node.Run(CommandEncoder.DeleteDatabases(["Passing"]));
                node.Flush();
            }

            node.CreateDatabase("Passing");
            node.Put("Passing", "back", "{}");
            node.Flush();

            // Only the journal has these changes: a collection has fewer documents than its lost counter shows, there
            // are more databases than the lost last number shows, and one of them has its first document.
            node.Run(
                Batch(
                    node,
                    "Shop1",
                    """{"Commands":[{"Type":"DELETE","Id":"d/1/00"},{"Type":"DELETE","Id":"d/1/01"},{"Type":"DELETE","Id":"d/1/02"}]}"""
                )
            );
            node.CreateDatabase("Late1");
            node.CreateDatabase("Late2");
            node.Put("Late2", "late", "{}");
            node.Put("Shop2", "first", "{}");
        }

        int refused = 0;
        foreach (
            string path in disk.Files.Where(path =>
                path.EndsWith(".run", StringComparison.Ordinal) && Length(disk, path) < 4_000
            )
        )
        {
            for (long offset = 0; offset < Length(disk, path); offset += 61)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DiagnoseStart(damaged, leftOut: null) is not { } diagnosis)
                {
                    continue;
                }

                refused++;
                Assert.Contains("`rookery export`", diagnosis, StringComparison.Ordinal);
                var reports = new List<string>();
                using var node = OpenNode(damaged, reports.Add);
                Assert.True(node.Diagnosis is null, $"{path} at {offset}: {node.Diagnosis}");
                Assert.True(
                    node.Databases.All.Sum(static database => CountReadable(database)) == 60,
                    $"{path} at {offset}: all 60 documents are read"
                );
                Assert.Contains(reports, sentence => sentence.Contains(path, StringComparison.Ordinal));
            }
        }

        Assert.InRange(refused, 10, int.MaxValue);
    }

    private static int CountReadable(Database database)
    {
        int count = 0;
        using var reader = database.OpenReader();
        using var cursor = reader.SeekAllReadable(static _ => { });
        while (cursor.MoveNext())
        {
            count++;
        }

        return count;
    }

    /// <summary>
    /// Flips one bit in all parts of all runs in turn. A write either succeeds, or is refused with the damage named and
    /// stores nothing. The node continues, also after a restart.
    /// </summary>
    [Fact]
    public void Only_a_write_that_needs_a_damaged_version_is_refused_before_the_journal()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = SteppedNode.Open(disk, Directory))
        {
            node.CreateDatabase("Shop");
            for (int i = 0; i < 120; i++)
            {
                node.Put(
                    "Shop",
                    $"d/{i:D3}",
                    $$"""{"noise":"{{Noise(i, i % 40 == 7 ? 100_000 : 250)}}","@metadata":{"@expires":"2031-01-01T00:00:00Z"} }"""
                );
            }

            node.Flush();
        }

        int refused = 0;
        foreach (string path in disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 1500; offset < Length(disk, path); offset += 15_000)
            {
                refused += WriteDespiteDamage(disk, path, offset) ? 1 : 0;
            }
        }

        Assert.InRange(refused, 3, int.MaxValue);
    }

    /// <summary>
    /// Flips a bit of a run, and writes or deletes some documents. Returns whether any of these writes was refused.
    /// </summary>
    private static bool WriteDespiteDamage(SimulatedDisk disk, string path, long offset)
    {
        var damaged = disk.AfterPowerLoss(seed: 1);
        damaged.Rot(path, offset, mask: 1);
        if (OpenUnlessEveryStartReadsIt(damaged) is not { } node)
        {
            return false;
        }

        int refused = 0;
        using (node)
        {
            foreach (int number in (int[])[.. Enumerable.Range(0, 120).Where(i => i % 5 == 2 || i % 40 == 7)])
            {
                string id = $"d/{number:D3}";
                var rejection = node.Propose(
                    number % 2 == 0
                        ? node.PutCommand("Shop", id, "{}")
                        : Batch(node, $$"""{"Commands":[{"Type":"DELETE","Id":"{{id}}"}]}""")
                ).Rejection;
                refused += rejection is null ? 0 : 1;
                Assert.True(
                    rejection is null or { Kind: RejectionKind.Damaged },
                    $"{path} at {offset}, {id}: {node.Consensus.Refusal?.Message}"
                );
                Assert.Contains(rejection is null ? "" : path, rejection?.Message ?? "", StringComparison.Ordinal);
                node.Put("Shop", $"beside/{number}", "{}");
            }

            Assert.Null(node.Consensus.Refusal);
        }

        using var again = SteppedNode.Open(damaged, Directory);
        again.Put("Shop", "after", "{}");
        return refused > 0;
    }

    /// <summary>
    /// Damages each row that a command reads in addition to its documents. The command succeeds or is refused with the
    /// damage named. The node continues, also after a restart.
    /// </summary>
    [Fact]
    public void Identities_hilo_ranges_and_idempotency_keys_in_damaged_rows_are_refused_before_the_journal()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = SteppedNode.Open(disk, Directory))
        {
            node.CreateDatabase("Shop");
            uint shop = node.Database("Shop").Number;
            foreach (int i in Enumerable.Range(0, 150))
            {
                // Ids before, among and after all ids that the server generates.
                foreach (
                    string id in (string[])[$"!/{i:D3}", $"{i:x3}", $"users/{i:D3}", $"users/9{i:D3}", $"~/{i:D3}"]
                )
                {
                    node.Put("Shop", id, $$"""{"noise":"{{Noise(i, bytes: 60)}}"}""");
                }

                node.Run(
                    CommandEncoder.HiloNext(
                        shop,
                        Encoding.UTF8.GetBytes($"Tag{i}"),
                        lastBatchSize: 0,
                        lastRangeAtTicks: 0,
                        lastMax: 0,
                        (byte)'/',
                        key: default
                    )
                );
                node.Run(
                    CommandEncoder.IdentitySeed(
                        shop,
                        Encoding.UTF8.GetBytes($"{i * 41 % 150:D3}{Noise(i, bytes: 150)}|"),
                        i,
                        force: true,
                        key: default
                    )
                );
                node.Run(CommandEncoder.IdentityNext(shop, "other|"u8, new IdempotencyKey((ulong)i, 7)));
            }

            node.Flush();
        }

        var refused = new HashSet<string>(StringComparer.Ordinal);
        foreach (string path in disk.Files.Where(path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            TryCommands(disk, path, offset: -1, refused);
            for (long offset = 500; offset < Length(disk, path); offset += Math.Max(Length(disk, path) / 6, 800))
            {
                TryCommands(disk, path, offset, refused);
            }
        }

        Assert.Equal(
            ["hilo", "identity", "key", "made", "numbered", "numbered by identity", "seed"],
            refused.Order(StringComparer.Ordinal)
        );
    }

    /// <summary>
    /// Flips a bit of a run, or deletes it if the offset is -1, and tries commands of several kinds. Adds the kinds
    /// that were refused.
    /// </summary>
    private static void TryCommands(SimulatedDisk disk, string path, long offset, HashSet<string> refused)
    {
        var damaged = disk.AfterPowerLoss(seed: 1);
        if (offset < 0)
        {
            damaged.Delete(path);
        }
        else
        {
            damaged.Rot(path, offset, mask: 1);
        }

        if (OpenUnlessEveryStartReadsIt(damaged) is not { } node)
        {
            return;
        }

        using (node)
        {
            while (!node.Core.Storage.ScrubOnce(budgetBytes: 1 << 20)) { }

            uint shop = node.Database("Shop").Number;
            for (int i = 0; i < 150; i += 5)
            {
                byte[] identity = Encoding.UTF8.GetBytes($"{i * 41 % 150:D3}{Noise(i, bytes: 150)}|");
                foreach (
                    var (name, command) in ((string, CommandBuffer)[])
                        [
                            ("made", node.PutCommand("Shop", "", "{}")),
                            ("numbered", node.PutCommand("Shop", "users/", "{}")),
                            ("numbered by identity", node.PutCommand("Shop", "users|", "{}")),
                            (
                                "hilo",
                                CommandEncoder.HiloNext(
                                    shop,
                                    Encoding.UTF8.GetBytes($"Tag{i}"),
                                    lastBatchSize: 0,
                                    lastRangeAtTicks: 0,
                                    lastMax: 0,
                                    (byte)'/',
                                    key: default
                                )
                            ),
                            (
                                "hilo",
                                CommandEncoder.HiloReturn(
                                    shop,
                                    Encoding.UTF8.GetBytes($"Tag{i}"),
                                    last: 1,
                                    end: 32,
                                    key: default
                                )
                            ),
                            ("identity", CommandEncoder.IdentityNext(shop, identity, key: default)),
                            ("seed", CommandEncoder.IdentitySeed(shop, identity, 1, force: false, key: default)),
                            ("key", CommandEncoder.IdentityNext(shop, "other|"u8, new IdempotencyKey((ulong)i, 7))),
                        ]
                )
                {
                    var rejection = node.Propose(command).Rejection;
                    Assert.True(
                        rejection is null or { Kind: RejectionKind.Damaged },
                        $"{path} at {offset}, {name}: {node.Consensus.Refusal?.Message}"
                    );
                    if (rejection is not null)
                    {
                        Assert.Contains(path, rejection.Message, StringComparison.Ordinal);
                        refused.Add(name);
                    }
                }
            }

            Assert.Null(node.Consensus.Refusal);
        }

        using var again = SteppedNode.Open(damaged, Directory);
        again.Put("Shop", "~~", "{}");
    }

    /// <summary>Opens a node. Returns null if the damage is in rows that every start reads.</summary>
    internal static SteppedNode? OpenUnlessEveryStartReadsIt(SimulatedDisk disk)
    {
        try
        {
            return SteppedNode.Open(disk, Directory);
        }
        catch (DamagedException)
        {
            return null;
        }
    }

    /// <summary>
    /// Returns a disk with documents in runs and, only in the journal, a new version of one of them and a batch that
    /// expects another one unchanged.
    /// </summary>
    private static SimulatedDisk FillDisk(out int documents)
    {
        var disk = new SimulatedDisk("/data");
        using var node = SteppedNode.Open(disk, Directory);
        node.CreateDatabase("Shop");
        for (int i = 0; i < 200; i++)
        {
            node.Put("Shop", $"d/{i:D3}", $$"""{"noise":"{{Noise(i, bytes: 250)}}"}""");
        }

        node.Flush();
        node.Put("Shop", "d/100", """{"new":true}""");
        node.Run(EncodeConditional(node, "d/150"));
        documents = node.Documents("Shop").Count;
        return disk;
    }

    /// <summary>Encodes a batch that writes "beside" and a document, if that has its present change vector.</summary>
    private static CommandBuffer EncodeConditional(SteppedNode node, string id)
    {
        var database = node.Database("Shop");
        using var reader = database.OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            return Batch(
                node,
                $$"""
                {"Commands":[{"Type":"PUT","Id":"beside","Document":{} },{"Type":"PUT","Id":"{{id}}","ChangeVector":"{{database.ChangeVectorOf(
                    document.Etag
                )}}","Document":{} } ]}
                """
            );
        }
    }

    private static CommandBuffer Batch(SteppedNode node, string body) => Batch(node, "Shop", body);

    private static CommandBuffer Batch(SteppedNode node, string database, string body)
    {
        Assert.True(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes(body),
                node.Database(database).Number,
                key: default,
                maxBatchBytes: 1 << 20,
                out var batch,
                out _
            )
        );
        return batch.Command;
    }

    /// <summary>Returns random bytes in hexadecimal.</summary>
    internal static string Noise(int seed, int bytes)
    {
        byte[] noise = new byte[bytes];
        new Random(seed).NextBytes(noise);
        return Convert.ToHexString(noise);
    }

    /// <summary>Opens a node, and returns why it is in diagnosis mode; null if it is not.</summary>
    internal static string? DiagnoseStart(SimulatedDisk disk, Action<string>? leftOut)
    {
        using var node = OpenNode(disk, leftOut);
        return node.Diagnosis;
    }

    /// <summary>Opens a node as the program does: damage leads to diagnosis mode.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="leftOut">Receives a sentence for each command of the journal that is left out because of damage, as
    /// an export does; null if the node must not leave out commands.</param>
    internal static Node OpenNode(SimulatedDisk disk, Action<string>? leftOut) =>
        Node.Open(
            SteppedNode.Options(Directory) with
            {
                CommandLeftOut = leftOut,
            },
            disk,
            new MemoryBudget(16 << 20),
            NoRecorder.Instance,
            new SimulatedTimeProvider(),
            RaftConsensus.Alone
        );

    /// <summary>Reads all readable documents, and the gaps between them.</summary>
    private static (Dictionary<string, string> Read, List<DamageEvent> Gaps) ReadAll(Node node)
    {
        var gaps = new List<DamageEvent>();
        var read = new Dictionary<string, string>(StringComparer.Ordinal);
        Assert.True(node.Databases.TryGet("Shop", out var database));
        using var reader = database.OpenReader();
        using var cursor = reader.SeekAllReadable(gaps.Add);
        while (cursor.MoveNext())
        {
            read.Add(Encoding.UTF8.GetString(cursor.View.Id), Encoding.UTF8.GetString(cursor.View.Body));
        }

        return (read, gaps);
    }

    internal static long Length(SimulatedDisk disk, string path)
    {
        using var file = disk.Open(path, DiskOpen.Read);
        return file.Length;
    }
}
