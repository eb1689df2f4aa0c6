using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>Removals that one command carries out in part.</summary>
public sealed class RevisionRemovalTests : IDisposable
{
    private const int Many = 20_000;
    private const int MostPerEntry = 16_384;

    private readonly RevisedNode _node = new();

    public void Dispose() => _node.Dispose();

    [Fact]
    public void Very_many_revisions_are_deleted_by_several_commands()
    {
        _node.Configure(new RevisionRule());
        PutMany("a", "");
        var first = _node.Act("a", RevisionAction.Delete)[0];
        Assert.Equal(MostPerEntry, first.Low);
        Assert.Equal(Many - MostPerEntry, _node.Total());
        var last = _node.Act("a", RevisionAction.Delete, etag: first.High)[0];
        Assert.Equal((Many - MostPerEntry, 0), (last.Low, last.High));
        Assert.Equal(0, _node.Total());
        Assert.Empty(_node.Bodies("a"));
        Assert.Contains($"\"n\":{Many - 1}", _node.Json("a"), StringComparison.Ordinal);
    }

    [Fact]
    public void Very_many_revisions_beyond_a_limit_are_removed_by_several_commands()
    {
        _node.Configure(new RevisionRule());
        PutMany("a", "");
        _node.Configure(new RevisionRule { MinimumToKeep = 2 });
        Assert.NotEqual(0, _node.Act("a", RevisionAction.Enforce)[0].High);
        var last = _node.Act("a", RevisionAction.Enforce)[0];
        Assert.Equal((Many - MostPerEntry - 2, 0), (last.Low, last.High));
        Assert.Equal([$"\"n\":{Many - 1}", $"\"n\":{Many - 2}"], _node.Bodies("a"));
        _node.Put("a", """{"n":"new"}""");
        Assert.Equal(["\"n\":\"new\"", $"\"n\":{Many - 1}"], _node.Bodies("a"));
    }

    [Fact]
    public async Task An_expired_document_stays_until_all_of_its_revisions_are_purged()
    {
        _node.Configure(new RevisionRule { PurgesOnDelete = true });
        PutMany("a", """, "@metadata":{"@expires":"2026-01-01T00:00:00.0000000Z"}""");
        using (var expiry = new ExpiryWriter(_node.Database))
        {
            expiry.Add("a"u8, _node.Etag("a"));
            _node.Node.Run(expiry.Complete());
        }

        Assert.Equal(Many - MostPerEntry, _node.Total());
        Assert.NotEqual(0, _node.Etag("a"));
        PutMany("a", """, "@metadata":{"@expires":"2026-01-01T00:00:00.0000000Z"}""");
        _node.Time.Advance(TimeSpan.FromDays(1));
        await Task.Run(async () =>
        {
            var expiration = new Expiration(_node.Node.Core.Databases, _node.Node.Consensus);
            var done = expiration.RunOnceAsync(CancellationToken.None);
            while (!done.IsCompleted)
            {
                _node.Node.Commit();
                await Task.Yield();
            }

            await done;
        });
        Assert.Equal(0, _node.Total());
        Assert.Equal(0, _node.Etag("a"));
    }

    [Trait("Effort", "Whole")]
    [Fact]
    public void Revisions_that_must_be_stored_whole_are_divided_among_commands()
    {
        const int Count = 16;
        _node.Configure(new RevisionRule());
        string text = new('x', 5_000_000); // half of them take more than the 32 MiB that a command may store
        for (int i = 0; i < Count; i++)
        {
            _node.Put("a", $$"""{"n":{{i}},"text":"{{text}}"}""");
        }

        long[] removed = [.. _node.Read("a").Where((_, i) => i % 2 == 0).Select(static revision => revision.Etag)];
        long total = 0;
        int commands = 0;
        long next = 0;
        do
        {
            var outcome = _node.Act("a", RevisionAction.Delete, next, forced: false, removed);
            Assert.Null(outcome.Rejection);
            total += outcome[0].Low;
            next = outcome[0].High;
            commands++;
        } while (next != 0);

        Assert.Equal(removed.Length, total);
        Assert.InRange(commands, 2, 8);
        Assert.Equal(
            Enumerable.Range(0, Count / 2).Select(static i => $"\"n\":{Count - 2 - (2 * i)},"),
            _node.Bodies("a").Select(static body => body[..(body.IndexOf(',', StringComparison.Ordinal) + 1)])
        );
    }

    private void PutMany(string id, string metadata)
    {
        const int PerBatch = 4000;
        for (int at = 0; at < Many; at += PerBatch)
        {
            var commands = new StringBuilder();
            for (int i = at; i < at + PerBatch; i++)
            {
                commands.Append(i == at ? "" : ",");
                commands.Append($$"""{"Id":"{{id}}","Type":"PUT","Document":{"n":{{i}}{{metadata}}} }""");
            }

            Assert.Null(_node.Batch(commands.ToString()).Rejection);
        }
    }
}
