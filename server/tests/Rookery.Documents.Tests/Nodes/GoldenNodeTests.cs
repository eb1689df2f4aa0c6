using System.Globalization;
using System.IO.Compression;
using System.Runtime.CompilerServices;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Nodes;

/// <summary>
/// Golden/ contains a whole data directory of each format version: the journal, runs, and every kind of row in them.
/// Every later version must read it. For a new version, raise <see cref="DataDirectory.FormatVersion"/> and write
/// another directory once, before its first release: <c>ROOKERY_WRITE_GOLDEN=1 dotnet test
/// server/tests/Rookery.Documents.Tests --filter GoldenNodeTests</c>.
/// </summary>
public class GoldenNodeTests
{
    private const string Node = "/data/node";

    // The description of the contents, as Describe wrote it.
    private const string Contents = "contents.txt";

    // When the data of each golden directory were written.
    private static readonly DateTimeOffset Written = new(2026, 11, 21, 12, 0, 0, TimeSpan.Zero);

    [Fact]
    public void A_data_directory_of_format_1_is_read_and_written_to()
    {
        if (Environment.GetEnvironmentVariable("ROOKERY_WRITE_GOLDEN") is { Length: > 0 })
        {
            Write(GoldenDirectory(DataDirectory.FormatVersion));
        }

        var disk = Load(GoldenDirectory(version: 1));
        string expected = File.ReadAllText(Path.Join(GoldenDirectory(version: 1), Contents));
        using (var node = Open(disk))
        {
            Assert.Null(node.Core.Storage.Problem);
            Assert.Equal(expected, Describe(node));

            // A retry gets the first outcome, and new writes continue the old data.
            long last = node.Core.Storage.Sequence;
            Assert.Equal(ReadKeyedEtag(expected), node.Propose(EncodeKeyed(node))[0].Etag);
            Assert.Equal(
                4, // Fill set the identity to 2 and took the number 3
                node.Propose(CommandEncoder.IdentityNext(node.Database("Shop").Number, "users|"u8, key: default))[0].Low
            );
            node.Put("Shop", "new", "{}");
            Assert.InRange(node.Core.Storage.Sequence, last + 1, last + 10);
            node.Flush();
            Assert.Contains("new", node.Documents("Shop").Keys);
        }

        using var again = Open(disk);
        Assert.Contains("new", again.Documents("Shop").Keys);
    }

    private static SteppedNode Open(IDisk disk) =>
        SteppedNode.Open(disk, Node, new SimulatedTimeProvider(Written.AddMinutes(5)));

    /// <summary>Writes a golden directory, each file compressed by gzip, with a description of its contents.</summary>
    private static void Write(string directory)
    {
        var disk = new SimulatedDisk("/data");
        string contents;
        using (var node = SteppedNode.Open(disk, Node, new SimulatedTimeProvider(Written)))
        {
            Fill(node);
            contents = Describe(node);
            node.Core.Journal.StopCleanly();
        }

        Directory.CreateDirectory(directory);
        foreach (string path in disk.Files.Where(static path => !path.EndsWith("/lock", StringComparison.Ordinal)))
        {
            using var file = disk.Open(path, DiskOpen.Read);
            byte[] bytes = new byte[file.Length];
            file.Read(bytes, offset: 0);
            string target = Path.Join(directory, Path.GetRelativePath(Node, path) + ".gz");
            Directory.CreateDirectory(Path.GetDirectoryName(target)!);
            using var packed = new GZipStream(File.Create(target), CompressionLevel.SmallestSize);
            packed.Write(bytes);
        }

        File.WriteAllText(Path.Join(directory, Contents), contents);
    }

    // Writes rows into merged and unmerged runs, and the last ones only into the journal.
    private static void Fill(SteppedNode node)
    {
        node.CreateDatabase("Shop");
        node.CreateDatabase("Gone");
        node.CreateDatabase("Other");
        for (int round = 0; round < 10; round++)
        {
            for (int i = 0; i < 12; i++)
            {
                node.Put(
                    "Shop",
                    $"Users/{(round * 5) + i}",
                    $$$"""{"round":{{{round}}},"name":"Ünï {{{i}}}","@metadata":{"@collection":"Users","mine":[1,null]}}"""
                );
            }

            node.Put("Gone", $"g/{round}", "{}");
            node.Flush();
        }

        uint shop = node.Database("Shop").Number;
        node.Put("Shop", "large", $$"""{"text":"{{new string('x', 200_000)}}"}""");
        node.Put("Shop", "expires", """{"@metadata":{"@expires":"2031-01-01T00:00:00.0000000Z"}}""");
        node.Put("Shop", "moves", """{"@metadata":{"@collection":"Users"}}""");
        node.Put("Shop", "moves", """{"@metadata":{"@collection":"Movers"}}""");
        node.Run(CommandEncoder.Delete(shop, "users/3"u8, expected: default, key: default));
        node.Run(EncodeKeyed(node));
        node.Run(
            CommandEncoder.HiloNext(
                shop,
                "Users"u8,
                lastBatchSize: 0,
                lastRangeAtTicks: 0,
                lastMax: 0,
                (byte)'/',
                key: default
            )
        );
        node.Run(CommandEncoder.IdentitySeed(shop, "users|"u8, 2, force: true, key: default));
        node.Run(CommandEncoder.PutClientConfiguration(shop, """{"Disabled":false}"""u8));
        node.Run(CommandEncoder.DeleteDatabases(["Gone"]));
        node.Flush();
        node.Run(CommandEncoder.IdentityNext(shop, "users|"u8, key: default));
        node.Run(CommandEncoder.Delete(shop, "users/4"u8, expected: default, key: default));
        node.Put("Shop", "Users/5", """{"last":true}""");
        node.Put("Other", "o/1", """{"a":1.50}""");
    }

    /// <summary>Encodes a write of the document keyed, with an idempotency key.</summary>
    private static CommandBuffer EncodeKeyed(SteppedNode node)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse("""{"keyed":true}"""u8, out var document, out _));
        return CommandEncoder.Put(
            node.Database("Shop").Number,
            "keyed"u8,
            expected: default,
            document,
            new IdempotencyKey(1, 2)
        );
    }

    /// <summary>Returns the etag of the document keyed in a description: its line is <c>  keyed ETAG …</c>.</summary>
    private static long ReadKeyedEtag(string contents)
    {
        string line = contents.Split('\n').First(static text => text.StartsWith("  keyed ", StringComparison.Ordinal));
        return long.Parse(line.Split(' ')[3], CultureInfo.InvariantCulture);
    }

    /// <summary>Describes a node's ids and all its databases, as text.</summary>
    private static string Describe(SteppedNode node)
    {
        var text = new StringBuilder();
        text.Append(
            CultureInfo.InvariantCulture,
            $"node {node.Core.NodeId} cluster {node.Core.ClusterId} etag {node.Core.Storage.Sequence}\n"
        );
        foreach (
            var database in node.Core.Databases.All.OrderBy(static database => database.Name, StringComparer.Ordinal)
        )
        {
            Describe(database, text);
        }

        return text.ToString();
    }

    private static void Describe(Database database, StringBuilder text)
    {
        using var reader = database.OpenReader();
        var counts = reader.ReadStatistics();
        text.Append(
            CultureInfo.InvariantCulture,
            $"{database.Name} {database.Number} {database.HistoryId}: {counts.Documents} documents, "
                + $"{counts.Tombstones} tombstones, {counts.Identities} identities, "
        );
        text.Append(
            CultureInfo.InvariantCulture,
            $"etags {counts.LastDocumentEtag} {counts.LastEtag} {counts.TombstoneHorizon}, keys from "
                + $"{reader.ReadIdempotencyHorizonTicks()}\n"
        );
        using (var documents = reader.SeekByIdPrefix(prefix: []))
        {
            while (documents.MoveNext())
            {
                var view = documents.View;
                text.Append(
                    CultureInfo.InvariantCulture,
                    $"  {Text(view.Id)} {documents.Etag} {NameOrDash(view.Collection)} {view.LastModifiedTicks} "
                        + $"{view.ExpiresAtTicks} {Shorten(view.Metadata)} {Shorten(view.Body)}\n"
                );
            }
        }

        using (var changes = reader.SeekChanges(afterEtag: 0))
        {
            while (changes.MoveNext())
            {
                text.Append(
                    CultureInfo.InvariantCulture,
                    $"  change {changes.Etag} "
                        + $"{(changes.IsTombstone ? $"{changes.Tombstone.Id} deleted from {changes.Tombstone.Collection}" : Text(changes.View.Id))}"
                        + $"\n"
                );
            }
        }

        foreach (var collection in reader.ReadCollections())
        {
            text.Append(
                CultureInfo.InvariantCulture,
                $"  {collection.Name}: {collection.Documents} documents of {collection.Bytes} bytes, walked "
                    + $"{Count(reader.SeekByCollection(Bytes(collection.Name)))}\n"
            );
        }

        foreach (var identity in reader.ReadIdentities())
        {
            text.Append(CultureInfo.InvariantCulture, $"  {identity.Name} {identity.Value}\n");
        }

        byte[] from = [];
        using var expired = Expiration.NextCommand(database, DateTime.MaxValue.Ticks - 1, ref from, out int expiring);
        text.Append(
            CultureInfo.InvariantCulture,
            $"  {expiring} will expire, configuration {Text(reader.ReadClientConfiguration() ?? [])}\n"
        );
    }

    private static int Count(DocumentCursor documents)
    {
        using (documents)
        {
            int count = 0;
            while (documents.MoveNext())
            {
                count++;
            }

            return count;
        }
    }

    /// <summary>Copies a golden directory to a simulated disk.</summary>
    private static SimulatedDisk Load(string directory)
    {
        var disk = new SimulatedDisk("/data");
        foreach (string path in Directory.EnumerateFiles(directory, "*.gz", SearchOption.AllDirectories))
        {
            string target = Path.Join(Node, Path.GetRelativePath(directory, path)[..^".gz".Length]);
            disk.CreateDirectory(Path.GetDirectoryName(target)!);
            using var packed = new GZipStream(File.OpenRead(path), CompressionMode.Decompress);
            using var plain = new MemoryStream();
            packed.CopyTo(plain);
            using var file = disk.Open(target, DiskOpen.CreateNew);
            file.Write(plain.ToArray(), 0);
        }

        return disk;
    }

    private static string NameOrDash(ReadOnlySpan<byte> collection) => collection.IsEmpty ? "-" : Text(collection);

    /// <summary>Returns up to 200 bytes as text, and more as their length and checksum.</summary>
    private static string Shorten(ReadOnlySpan<byte> bytes) =>
        bytes.Length <= 200
            ? Text(bytes)
            : string.Create(CultureInfo.InvariantCulture, $"{bytes.Length} bytes, CRC-32C {Checksum.Of(bytes):x8}");

    private static string Text(ReadOnlySpan<byte> utf8) => Encoding.UTF8.GetString(utf8);

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);

    private static string GoldenDirectory(int version, [CallerFilePath] string testFile = "") =>
        Path.Join(
            Path.GetDirectoryName(testFile),
            "..",
            "Golden",
            string.Create(CultureInfo.InvariantCulture, $"v{version}")
        );
}
