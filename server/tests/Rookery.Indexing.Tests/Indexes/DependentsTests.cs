using System.Text;
using System.Text.Json;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Documents that loaded another document, its dependents, are indexed again when it changes.</summary>
public sealed class DependentsTests : IDisposable
{
    private const string Cities = "Users/ByCity";
    private readonly IndexedNode _node = IndexedNode.New();

    public DependentsTests()
    {
        Define(
            Cities,
            "from u in docs.Users let c = LoadDocument<Company>(u.company, \\\"Companies\\\") select new { "
                + "u.name, city = c.city }"
        );
        _node.Put("companies/1", "\"city\":\"Ulm\"", "Companies");
        // All users depend on one company.
        for (int i = 0; i < 40; i++)
        {
            _node.Put($"users/{i}", "\"name\":\"a\",\"company\":\"companies/1\"");
        }

        _node.SettleAll();
    }

    [Fact]
    public void An_unreadable_dependent_is_read_again_before_the_index_advances()
    {
        _node.Put("companies/1", "\"city\":\"Bonn\"", "Companies");
        var index = _node.Serving(Cities);
        while (!index.HasDependents)
        {
            Assert.True(_node.Host.Step());
        }

        long before = index.Position;
        var fedIds = new List<string>();
        Assert.Throws<StoredDocumentException>(() =>
            index.FeedDependents(documents: 100, id => throw new StoredDocumentException(Encoding.UTF8.GetString(id)))
        );
        Assert.Equal(before, index.Position);
        index.FeedDependents(
            documents: 100,
            id =>
            {
                fedIds.Add(Encoding.UTF8.GetString(id));
                return true;
            }
        );
        Assert.Equal(40, fedIds.Count);
        Assert.False(index.HasDependents);
        Assert.Equal(_node.Database().LastEtag, index.Position);
    }

    [Theory]
    [InlineData("Companies")]
    [InlineData("@all_docs")]
    public void A_loaded_document_of_a_collection_that_the_map_does_not_name_is_tracked(string loadedCollection)
    {
        using var node = IndexedNode.New();
        node.Define(
            $$"""{"Maps":["docs.Users.Select(u => new { city = LoadDocument(u.employer, \"{{loadedCollection}}\").city })"],"""
                + """ "Fields":{"city":{"Storage":"Yes"}}}""",
            "a"
        );
        node.Put("orgs/1", "\"city\":\"Ulm\"", "Orgs");
        node.Put("users/1", "\"employer\":\"orgs/1\"");
        node.SettleAll();
        Assert.Contains("Ulm", Assert.Single(node.ReadRows("a")), StringComparison.Ordinal);
        node.Put("orgs/1", "\"city\":\"Bonn\"", "Orgs");
        node.SettleAll();
        Assert.Contains("Bonn", Assert.Single(node.ReadRows("a")), StringComparison.Ordinal);
        node.Delete("orgs/1");
        node.SettleAll();
        Assert.DoesNotContain("Bonn", Assert.Single(node.ReadRows("a")), StringComparison.Ordinal);
    }

    [Fact]
    public void A_pass_that_ends_early_after_a_changed_document_does_not_advance_the_index()
    {
        var index = _node.Serving(Cities);
        long before = index.Position;
        index.MarkDependents("companies"u8, "companies/1"u8);
        index.FeedDependents(documents: 100, static _ => true);
        Assert.Equal(before, index.Position);
        _node.Put("users/1", "\"name\":\"b\"");
        _node.SettleAll();
        Assert.False(_node.Status(Cities).IsStale);
    }

    [Fact]
    public void A_step_ends_when_the_entries_of_dependents_take_many_bytes()
    {
        using var wide = IndexedNode.New(
            new IndexFeederOptions { MinPendingBytes = 32 << 10, PendingBytes = 32 << 10 }
        );
        Define(
            Cities,
            "from u in docs.Users from t in u.tags let c = LoadDocument<Company>(u.company, \\\"Companies\\\") "
                + "select new { tag = t + c.city }",
            wide
        );
        wide.Put("companies/1", "\"city\":\"Ulm\"", "Companies");
        for (int i = 0; i < 100; i++)
        {
            wide.Put(
                $"users/{i}",
                $"\"company\":\"companies/1\",\"tags\":[{string.Join(',', Enumerable.Range(0, 60).Select(tag => $"\"t{(i * 60) + tag}\""))}"
                    + $"]"
            );
        }

        wide.SettleAll();
        wide.Put("companies/1", "\"city\":\"Bonn\"", "Companies");
        while (!wide.Serving(Cities).HasDependents)
        {
            Assert.True(wide.Host.Step());
        }

        int steps = 0;
        for (; wide.Serving(Cities).HasDependents; steps++)
        {
            Assert.True(wide.Host.Step());
        }

        // Each step takes a few of the 100 dependents, because the 60 tags of one take much of its 32 KiB.
        Assert.InRange(steps, 10, 101);
        wide.SettleAll();
        Assert.False(wide.Status(Cities).IsStale);
    }

    [Fact]
    public void Dependents_of_one_index_do_not_delay_other_indexes_or_their_dependents()
    {
        var byName = new AutoIndexDefinition("Users", [new AutoIndexField(["name"], AutoIndexFieldUses.None)]);
        _node.Define(byName.Name, byName);
        Define(
            "Users/ByCity2",
            "from u in docs.Users select new { u.name, city = LoadDocument(u.company, \\\"Companies\\\").city, n = 2 }"
        );
        _node.SettleAll();
        _node.Put("companies/1", "\"city\":\"Bonn\"", "Companies");
        while (!_node.Serving(Cities).HasDependents)
        {
            Assert.True(_node.Host.Step());
        }

        _node.Put("users/1", "\"name\":\"b\",\"company\":\"companies/1\"");
        Assert.True(_node.Host.Step());
        Assert.True(_node.Host.Step());
        Assert.Equal(_node.Database().LastEtag, _node.Serving(byName.Name).Position);
        Assert.True(_node.Serving(Cities).HasDependents);

        // Each index has forty dependents and takes seven in a step. Within eight more steps, one finishes only if the
        // other waits.
        for (int i = 0; i < 8; i++)
        {
            Assert.True(_node.Host.Step());
        }

        Assert.True(_node.Serving(Cities).HasDependents && _node.Serving("Users/ByCity2").HasDependents);
        _node.SettleAll();
        Assert.False(_node.Status(Cities).IsStale);
        Assert.False(_node.Status("Users/ByCity2").IsStale);
    }

    public void Dispose() => _node.Dispose();

    private void Define(string name, string map, IndexedNode? node = null)
    {
        using var json = JsonDocument.Parse($$"""{"Name":"{{name}}","Maps":["{{map}}"]}""");
        (node ?? _node).ChangeIndexes(writer =>
            writer.Put(name, StaticIndexRequest.Parse(json.RootElement).Definition.ToJson(), settings: default)
        );
    }
}
