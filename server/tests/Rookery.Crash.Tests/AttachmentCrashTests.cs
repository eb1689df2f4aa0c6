using System.Buffers;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Parsing;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Crash.Tests;

/// <summary>
/// Random commands on documents and attachments, cut by power losses, compared with a model: what was acknowledged is
/// read back equal, and no file without a reference is left.
/// </summary>
public sealed class AttachmentCrashTests
{
    private const int Points = 600;

    [Fact]
    public void Acknowledged_attachments_survive_power_cuts_and_no_unreferenced_file_stays()
    {
        var search = new CrashSearch { Points = Points, Runs = 12 };
        search.Verify(static seed => Work(seed), Check);
        if (!CrashSearch.IsReplay)
        {
            Assert.True(search.Judged >= Points, $"only {search.Judged} power cuts were judged");
        }
    }

    [Fact]
    public void The_search_catches_attachments_that_are_not_synced() =>
        Assert.NotNull(Find(static path => path.EndsWith(".part", StringComparison.Ordinal)));

    [Fact]
    public void The_search_catches_attachments_whose_directory_is_not_synced() =>
        Assert.NotNull(Find(static path => path.Contains("/attachments/1/", StringComparison.Ordinal)));

    [Fact]
    public void An_attachment_survives_a_power_cut_after_an_earlier_upload_was_killed_at_any_step()
    {
        int steps = 0;
        for (bool failed = true; failed; steps++)
        {
            var disk = new SimulatedDisk("/data");
            failed = AttachFails(disk, atCall: steps + 1);
            disk.KillProcess();
            disk.ClearFaults();
            using (var node = SteppedNode.Open(disk, new SimulatedTimeProvider()))
            {
                node.Core.Attachments.Files.RemoveUnfinished();
                Run(node, Put("d0", "{}")); // applies the journal
                Assert.True(Attach(node, "d0", "n", [1]));
            }

            for (int seed = 0; seed < 8; seed++)
            {
                using var node = SteppedNode.Open(disk.AfterPowerLoss(seed), new SimulatedTimeProvider());
                Run(node, CommandEncoder.Delete(1, "none"u8, ExpectedChangeVector.None, default));
                Assert.Equal([1], Read(node)["d0/n"]);
            }
        }

        Assert.True(steps > 10, $"an upload has only {steps} steps");
    }

    // Each failing call stands for the place at which the process is killed.
    private static bool AttachFails(SimulatedDisk disk, int atCall)
    {
        using var node = SteppedNode.Open(disk, new SimulatedTimeProvider());
        Run(node, CommandEncoder.CreateDatabase("db", "0123456789012345678901"));
        disk.Inject(
            new DiskFault(atCall, Errno.InputOutput)
            {
                Calls = DiskCalls.Changing,
                PathContains = "attachments",
                Sticky = true,
            }
        );
        try
        {
            Upload(node, [1]).Dispose();
            return false;
        }
        catch (DiskException)
        {
            return true;
        }
    }

    private static (CrashPoint Point, Exception Cause)? Find(Func<string, bool> skips) =>
        new CrashSearch { Points = Points, Runs = 12 }.Find(seed => Work(seed, skips), Check);

    private static (SimulatedDisk Disk, List<State> States) Work(int seed, Func<string, bool>? skips = null)
    {
        var random = new Random(seed);
        var disk = new SimulatedDisk("/data");
        var states = new List<State>();
        using var node = SteppedNode.Open(
            skips is null ? disk : new SyncSkippingDisk(disk, skips),
            new SimulatedTimeProvider()
        );
        Run(node, CommandEncoder.CreateDatabase("db", "0123456789012345678901"));
        var documents = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        states.Add(new State(disk.OperationCount, new(documents, StringComparer.Ordinal)));
        for (int step = 0; step < 60; step++)
        {
            Step(node, random, documents);
            states.Add(new State(disk.OperationCount, new(documents, StringComparer.Ordinal)));
            if (random.Next(4) == 0)
            {
                node.Core.Attachments.Garbage.Collect(maxFiles: 3);
            }

            if (random.Next(15) == 0)
            {
                node.Core.Storage.Memtables.RequestFlush();
                while (node.Core.Background.DoStep()) { }
            }
        }

        return (disk, states);
    }

    // Keys of the model: "id" for a document, "id/name" for an attachment.
    private static void Step(SteppedNode node, Random random, SortedDictionary<string, byte[]> documents)
    {
        string id = $"d{random.Next(3)}";
        string name = $"{id}/n{random.Next(3)}";
        switch (random.Next(9))
        {
            case 5:
                BulkInsert(node, random, id, documents);
                return;
            case 0:
                Run(node, Put(id, $$"""{"v":{{random.Next(1000)}}}"""));
                documents[id] = [];
                return;
            case 1:
                Run(node, CommandEncoder.Delete(1, Encoding.ASCII.GetBytes(id), ExpectedChangeVector.None, default));
                foreach (
                    string key in documents
                        .Keys.Where(key => key.Split('/')[0].Equals(id, StringComparison.Ordinal))
                        .ToArray()
                )
                {
                    documents.Remove(key);
                }

                return;
            case 2:
                using (var writer = new BatchWriter(CommandKind.Batch, 1))
                {
                    writer.DeleteAttachment(
                        Encoding.ASCII.GetBytes(id),
                        ExpectedChangeVector.None,
                        Encoding.ASCII.GetBytes(name[3..])
                    );
                    Run(node, writer.Complete());
                }

                documents.Remove(name);
                return;
            case 3 or 4:
                CopyOrMove(node, random, name, documents);
                return;
            default:
                byte[] content = new byte[
                    random.Next(4) switch
                    {
                        0 => 0,
                        1 => 70_000,
                        _ => random.Next(3000),
                    }
                ];
                Array.Fill(content, (byte)random.Next(3)); // often the same bytes
                bool stored = Attach(node, id, name[3..], content);
                Assert.Equal(documents.ContainsKey(id), stored);
                if (stored)
                {
                    documents[name] = content;
                }

                return;
        }
    }

    // As a bulk insert: documents and their attachments in one command.
    private static void BulkInsert(
        SteppedNode node,
        Random random,
        string id,
        SortedDictionary<string, byte[]> documents
    )
    {
        byte[] content = new byte[random.Next(2) == 0 ? 70_000 : random.Next(3000)];
        Array.Fill(content, (byte)random.Next(3));
        using var pinned = Upload(node, content);
        using var parser = DocumentParser.Rent();
        Assert.True(
            parser.TryParse(Encoding.UTF8.GetBytes($$"""{"v":{{random.Next(1000)}}}"""), out var document, out _)
        );
        using var writer = new BatchWriter(CommandKind.BulkPut, 1);
        writer.Put(Encoding.ASCII.GetBytes(id), ExpectedChangeVector.None, document);
        documents[id] = [];
        foreach (string name in (string[])["n0", "n1"])
        {
            writer.PutAttachment(
                Encoding.ASCII.GetBytes(id),
                ExpectedChangeVector.None,
                new AttachmentEntry
                {
                    Name = Encoding.ASCII.GetBytes(name),
                    Hash = pinned.Hash,
                    Size = pinned.Size,
                }
            );
            documents[$"{id}/{name}"] = content;
        }

        Run(node, writer.Complete());
    }

    private static void CopyOrMove(
        SteppedNode node,
        Random random,
        string source,
        SortedDictionary<string, byte[]> documents
    )
    {
        string id = $"d{random.Next(3)}";
        string name = $"{id}/n{random.Next(3)}";
        bool moves = random.Next(2) == 0;
        using var writer = new BatchWriter(CommandKind.Batch, 1);
        writer.CopyAttachment(
            Encoding.ASCII.GetBytes(id),
            Encoding.ASCII.GetBytes(name[3..]),
            Encoding.ASCII.GetBytes(source[..2]),
            Encoding.ASCII.GetBytes(source[3..]),
            ExpectedChangeVector.None,
            moves
        );
        bool isDone = Propose(node, writer.Complete()).Rejection is null;
        Assert.Equal(
            documents.ContainsKey(source) && documents.ContainsKey(id) && !documents.ContainsKey(name),
            isDone
        );
        if (isDone)
        {
            documents[name] = documents[source];
            _ = moves && documents.Remove(source);
        }
    }

    private static bool Attach(SteppedNode node, string id, string name, byte[] content)
    {
        using (var pinned = Upload(node, content))
        {
            using var writer = new BatchWriter(CommandKind.Batch, 1);
            writer.PutAttachment(
                Encoding.ASCII.GetBytes(id),
                ExpectedChangeVector.None,
                new AttachmentEntry
                {
                    Name = Encoding.ASCII.GetBytes(name),
                    Hash = pinned.Hash,
                    Size = pinned.Size,
                }
            );
            return Propose(node, writer.Complete()).Rejection is null;
        }
    }

    private static PinnedContent Upload(SteppedNode node, byte[] content)
    {
        using var upload = node.Core.Attachments.BeginAsync(1, content.Length).GetAwaiter().GetResult();
        upload.WriteAsync(new ReadOnlySequence<byte>(content)).AsTask().GetAwaiter().GetResult();
        return upload.CompleteAsync().GetAwaiter().GetResult();
    }

    private static void Check(SimulatedDisk image, List<State> states, int operation)
    {
        if (operation < states[0].Operation)
        {
            return;
        }

        using var node = SteppedNode.Open(image, new SimulatedTimeProvider());
        node.Core.Attachments.Files.RemoveUnfinished();
        Run(node, CommandEncoder.Delete(1, "none"u8, ExpectedChangeVector.None, default)); // applies the journal
        int last = states.FindLastIndex(state => state.Operation <= operation);
        string found = Describe(Read(node));
        string[] expected =
        [
            // The next command may have been written too.
            .. states.Skip(last).Take(2).Select(static state => Describe(state.Documents)),
        ];
        Assert.Contains(found, expected);
        while (node.Core.Attachments.Garbage.Collect(maxFiles: 100)) { }

        Assert.True(node.Core.Databases.TryGet("db", out var database));
        using (var reader = database.OpenReader())
        {
            Assert.Null(ContentCheck.FindMiscount(reader));
        }

        int contents = Read(node).Where(static pair => pair.Key.Contains('/')).Select(ContentOf).Distinct().Count();
        Assert.Equal(
            contents,
            image.Files.Count(static path => path.Contains("/attachments/", StringComparison.Ordinal))
        );

        static string ContentOf(KeyValuePair<string, byte[]> pair) => Convert.ToHexString(pair.Value);
    }

    private static SortedDictionary<string, byte[]> Read(SteppedNode node)
    {
        var documents = new SortedDictionary<string, byte[]>(StringComparer.Ordinal);
        Assert.True(node.Core.Databases.TryGet("db", out var database));
        using var reader = database.OpenReader();
        using var cursor = reader.SeekByIdPrefix([]);
        byte[] chunk = new byte[ContentFile.ChunkBytes];
        while (cursor.MoveNext())
        {
            string id = Encoding.ASCII.GetString(cursor.View.Id);
            documents.Add(id, []);
            var list = new AttachmentList(cursor.Head.Attachments);
            while (list.TryRead(out var entry))
            {
                using var file = node.Core.Attachments.Open(1, entry.Hash);
                var content = new List<byte>();
                for (int i = 0; i < file.ChunkCount; i++)
                {
                    content.AddRange(chunk.AsSpan(0, file.ReadChunk(i, chunk)));
                }

                documents.Add($"{id}/{Encoding.ASCII.GetString(entry.Name)}", [.. content]);
            }
        }

        return documents;
    }

    private static string Describe(SortedDictionary<string, byte[]> documents) =>
        string.Join(' ', documents.Select(static pair => $"{pair.Key}:{pair.Value.Length}:{Checksum.Of(pair.Value)}"));

    private static CommandBuffer Put(string id, string json)
    {
        using var parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Encoding.ASCII.GetBytes(json), out var document, out _));
        return CommandEncoder.Put(1, Encoding.ASCII.GetBytes(id), ExpectedChangeVector.None, document, default);
    }

    private static void Run(SteppedNode node, CommandBuffer command) => Assert.Null(Propose(node, command).Rejection);

    private static CommandOutcome Propose(SteppedNode node, CommandBuffer command)
    {
        var outcome = node.Propose(command);
        node.Commit();
        Assert.True(outcome.IsCompleted);
        return outcome.Result;
    }

    /// <summary>The expected documents and attachments after a disk operation.</summary>
    private sealed record State(int Operation, SortedDictionary<string, byte[]> Documents);
}
