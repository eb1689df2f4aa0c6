using System.Text;
using System.Text.Json;
using Rookery.Documents.Json;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;

namespace Rookery.Indexing.Tests.Indexes;

/// <summary>Documents that loaded another one are fed again when that changes.</summary>
public sealed class DependentsTests : IDisposable
{
    private const string Cities = "Users/ByCity";
    private readonly IndexedNode node = IndexedNode.New();

    public DependentsTests()
    {
        Define(Cities, "from u in docs.Users let c = LoadDocument<Company>(u.company, \\\"Companies\\\") select new { u.name, city = c.city }");
        node.Put("companies/1", "\"city\":\"Ulm\"", "Companies");
        for (int i = 0; i < 40; i++)
        {
            node.Put($"users/{i}", "\"name\":\"a\",\"company\":\"companies/1\"");
        }

        node.SettleAll();
    }

    [Fact]
    public void One_that_could_not_be_read_is_fed_again_and_the_index_comes_no_further_before()
    {
        node.Put("companies/1", "\"city\":\"Bonn\"", "Companies");
        var index = node.Serving(Cities);
        while (!index.HasDependents)
        {
            Assert.True(node.Host.Step());
        }

        long before = index.Position;
        var fed = new List<string>();
        Assert.Throws<StoredDocumentException>(() => index.FeedDependents(100, id => throw new StoredDocumentException(Encoding.UTF8.GetString(id))));
        Assert.Equal(before, index.Position);
        index.FeedDependents(100, id => fed.Add(Encoding.UTF8.GetString(id)));
        Assert.Equal(40, fed.Count);
        Assert.False(index.HasDependents);
        Assert.Equal(node.Database().LastEtag, index.Position);
    }

    [Fact]
    public void A_pass_that_was_cut_off_behind_a_changed_document_leaves_the_index_where_it_was()
    {
        var index = node.Serving(Cities);
        long before = index.Position;
        index.NoteLoaded("companies"u8, "companies/1"u8);
        index.FeedDependents(100, static _ => { });
        Assert.Equal(before, index.Position);
        node.Put("users/1", "\"name\":\"b\"");
        node.SettleAll();
        Assert.False(node.Status(Cities).IsStale);
    }

    public void Dispose() => node.Dispose();

    private void Define(string name, string map)
    {
        using var json = JsonDocument.Parse($$"""{"Name":"{{name}}","Maps":["{{map}}"]}""");
        node.ChangeIndexes(writer => writer.Put(name, StaticIndexRequest.Parse(json.RootElement).Definition.ToJson(), default));
    }
}
