using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>The expiry of documents with attachments.</summary>
public sealed class AttachmentExpiryTests
{
    private const string Expired = """{"@metadata":{"@expires":"2000-01-01T00:00:00Z"} }""";

    [Fact]
    public void An_expired_document_loses_its_contents()
    {
        using var node = AttachedNode.Create(new SimulatedDisk("/data"));
        node.Node.Put("db", "a", Expired);
        node.Attach("a", "x", [1]);
        Expire(node);
        Assert.Null(node.Names("a"));
        Assert.Equal(default, node.Totals());
    }

    [Fact]
    public void A_document_whose_reference_row_is_damaged_stops_neither_the_node_nor_other_expiry()
    {
        var disk = new SimulatedDisk("/data");
        using (var node = AttachedNode.Create(disk))
        {
            for (int i = 0; i < 400; i++)
            {
                node.Node.Put("db", $"d/{i:D3}", Expired);
                node.Attach($"d/{i:D3}", "x", BitConverter.GetBytes(i));
            }

            node.Node.Flush();
        }

        bool othersExpired = false;
        foreach (string path in disk.Files.Where(static path => path.EndsWith(".run", StringComparison.Ordinal)))
        {
            for (long offset = 1500; offset < DamageTests.Length(disk, path); offset += 3000)
            {
                var damaged = disk.AfterPowerLoss(seed: 1);
                damaged.Rot(path, offset, mask: 1);
                if (DamageTests.OpenUnlessEveryStartReadsIt(damaged) is not { } node)
                {
                    continue;
                }

                using (node)
                {
                    Expire(node);
                    Assert.Null(node.Consensus.Refusal);
                    using var reader = node.Database("db").OpenReader();
                    long left = reader.ReadStatistics().Documents;
                    othersExpired |= left is > 0 and < 400 && reader.ReadStatistics().Attachments.Attachments == left;
                }
            }
        }

        Assert.True(othersExpired);
    }

    private static void Expire(AttachedNode node) => Expire(node.Node);

    // Tasks complete inline; the test's synchronization context would continue on another thread.
    private static void Expire(SteppedNode node)
    {
        var context = SynchronizationContext.Current;
        SynchronizationContext.SetSynchronizationContext(null);
        try
        {
            var done = new Expiration(node.Core.Databases, node.Consensus).RunOnceAsync(CancellationToken.None);
            node.Commit();
            Assert.True(done.IsCompletedSuccessfully, done.Exception?.Message);
        }
        finally
        {
            SynchronizationContext.SetSynchronizationContext(context);
        }
    }
}
