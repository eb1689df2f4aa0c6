using Rookery.Fixtures;
using Rookery.Queries.Execution;

namespace Rookery.Queries.Tests.Execution;

/// <summary>The terms of a field, read in several parts.</summary>
public sealed class OpenedTermsTests
{
    private const string Definition = """{"Maps":["map('Users', u => ({ name: u.name }))"]}""";

    /// <summary>Formerly, each part was of the newest state: a client got terms that no state had together.</summary>
    [Fact]
    public void All_parts_are_of_one_state_while_the_index_advances_and_is_built_again()
    {
        using var node = IndexedNode.New();
        node.Define(Definition, "Names");
        foreach (string name in (string[])["a", "b", "c", "d"])
        {
            node.Put($"users/{name}", $"\"name\":\"{name}\"");
        }

        node.SettleAll();
        using var terms = Open(node)!;
        long etag = node.Serving("Names").VisibleEtag;
        Assert.Equal(etag, terms.Etag);
        Assert.Equal(["a", "b"], terms.Read(after: null, count: 2));
        node.Delete("users/c");
        node.Put("users/z", "\"name\":\"z\"");
        node.SettleAll();
        Assert.Equal(["c", "d"], terms.Read("b", count: 10));
        Assert.True(node.Host.Reset(node.Database(), "Names"));
        node.SettleAll();
        Assert.Equal(["d"], terms.Read("c", count: 10));
        Assert.Equal(etag, terms.Etag);
        using var newest = Open(node)!;
        Assert.Equal(["a", "b", "d", "z"], newest.Read(after: null, count: 10));
    }

    [Fact]
    public void A_missing_field_has_no_terms_and_an_index_that_is_not_open_is_none()
    {
        using var node = IndexedNode.New();
        node.Define(Definition, "Names");
        Assert.Null(Open(node));
        node.Put("users/a", "\"name\":\"a\"");
        node.SettleAll();
        using var terms = Open(node, field: "age")!;
        Assert.Empty(terms.Read(after: null, count: 10));
        Assert.Null(Open(node, ofReplacement: true));
    }

    private static OpenedTerms? Open(IndexedNode node, string field = "name", bool ofReplacement = false) =>
        new IndexedQueries(node.Host).OpenTerms(node.Database(), "Names", ofReplacement, field);
}
