using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Revisions;
using Rookery.Documents.Tests.Attachments;
using Rookery.Documents.Tests.Backups;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>Revisions in backups and of deleted databases, and those of documents with attachments.</summary>
public sealed class RevisionBackupTests
{
    [Fact]
    public void A_restored_backup_has_the_revisions_and_their_configuration()
    {
        var disk = new SimulatedDisk("/data", "/backups");
        using (var source = BackedUp.NewNode(disk, documents: 10))
        {
            uint database = source.Database("Shop").Number;
            var configuration = new RevisionsConfiguration(new RevisionRule { MinimumToKeep = 3 }, []);
            source.Run(CommandEncoder.ConfigureRevisions(database, configuration));
            for (int i = 0; i < 5; i++)
            {
                source.Put("Shop", "a", $$"""{"n":{{i}}}""");
            }

            source.Flush();
            source.Put("Shop", "a", """{"n":5}""");
            source.Run(CommandEncoder.Delete(database, "a"u8, ExpectedChangeVector.None, key: default));
            BackedUp.Take(source, disk);
        }

        BackedUp.Restore(disk);
        using var node = SteppedNode.Open(disk, BackedUp.Restored);
        Assert.Equal(["-", "\"n\":5", "\"n\":4"], Bodies(node, "Shop", "a"));
        node.Put("Shop", "a", """{"n":6}""");
        Assert.Equal(["\"n\":6", "-", "\"n\":5"], Bodies(node, "Shop", "a"));
    }

    [Fact]
    public void A_database_that_is_created_again_has_no_revisions_of_the_one_before()
    {
        using var node = new RevisedNode();
        node.Configure(new RevisionRule());
        node.PutUser("users/1", "ann");
        node.Delete("users/1");
        node.Node.Run(CommandEncoder.DeleteDatabases(["db"]));
        node.Node.CreateDatabase("db");
        node.PutUser("users/1", "bob");
        Assert.Empty(node.Bodies("users/1"));
        Assert.Equal(0, node.Total());
    }

    [Theory]
    [InlineData(0)]
    [InlineData(200_000)] // its revision is a large value, of which only the head is read
    public void Contents_of_attachments_live_as_long_as_a_revision_refers_to_them(int length)
    {
        using var attached = AttachedNode.Create(new SimulatedDisk("/data"));
        var node = attached.Node;
        uint database = node.Database("db").Number;
        var all = new RevisionsConfiguration(new RevisionRule(), []);
        node.Run(CommandEncoder.ConfigureRevisions(database, all));
        node.Put("db", "a", $$"""{"text":"{{new string('x', length)}}"}""");
        for (int i = 0; i < 10; i++)
        {
            Assert.Null(attached.Attach("a", new string((char)('a' + i), 200), [3, 3]).Rejection);
        }

        Assert.Null(attached.Attach("a", "one", [1]).Rejection);
        Assert.Null(attached.Attach("a", "one", [2]).Rejection);
        node.Put("db", "a", """{"n":1}""");
        Check(node, contents: 3);
        node.Run(CommandEncoder.Delete(database, "a"u8, ExpectedChangeVector.None, key: default));
        Check(node, contents: 3);

        // The first content comes back with its revision, and both go with all revisions.
        long etag = Etags(node, "a")[3];
        Assert.Null(Act(node, database, new RevisionCommand { Action = RevisionAction.Revert, Etag = etag }));
        Check(node, contents: 3);
        using (var reader = node.Database("db").OpenReader())
        {
            Assert.True(reader.TryGetDocument("a"u8, out var document));
            using (document)
            {
                Assert.True(AttachmentList.TryFind(document.Head.Attachments, "one"u8, out var found));
                Assert.Equal(1, found.Size);
            }
        }

        node.Run(CommandEncoder.Delete(database, "a"u8, ExpectedChangeVector.None, key: default));
        Assert.Null(
            Act(
                node,
                database,
                new RevisionCommand
                {
                    Action = RevisionAction.Delete,
                    IncludesForced = true,
                    ToTicks = long.MaxValue,
                }
            )
        );
        Check(node, contents: 0);
    }

    private static string? Act(SteppedNode node, uint database, scoped in RevisionCommand command)
    {
        using var writer = new BatchWriter(CommandKind.Batch, database);
        writer.Revision("a"u8, command);
        return node.Propose(writer.Complete()).Rejection?.Message;
    }

    private static void Check(SteppedNode node, int contents)
    {
        using var reader = node.Database("db").OpenReader();
        Assert.Null(ContentCheck.FindMiscount(reader));
        Assert.Equal(contents, reader.ReadStatistics().Attachments.Contents);
    }

    private static List<long> Etags(SteppedNode node, string id)
    {
        var etags = new List<long>();
        using var reader = node.Database("db").OpenReader();
        using var revisions = new RevisionReader(reader);
        Assert.True(revisions.TrySelect(Encoding.ASCII.GetBytes(id)));
        while (revisions.MoveNext())
        {
            etags.Add(revisions.Etag);
        }

        return etags;
    }

    private static string[] Bodies(SteppedNode node, string database, string id)
    {
        var bodies = new List<string>();
        using var reader = node.Database(database).OpenReader();
        using var revisions = new RevisionReader(reader);
        Assert.True(revisions.TrySelect(Encoding.ASCII.GetBytes(id)));
        while (revisions.MoveNext())
        {
            bodies.Add(revisions.IsDeletion ? "-" : Encoding.ASCII.GetString(revisions.View.Body));
        }

        return [.. bodies];
    }
}
