using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Json;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Patching;

/// <summary>Scripts of patches load, store and delete other documents, within the entry of the patch.</summary>
public sealed class ReachingPatchTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly SimulatedTimeProvider _time = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));
    private SteppedNode _node;

    public ReachingPatchTests()
    {
        _node = SteppedNode.Open(_disk, "/data/node", _time);
        _node.CreateDatabase("db");
        _node.Put("db", "users/1", """{"n":1,"@metadata":{"@collection":"Users","k":5}}""");
        _node.Put("db", "other", """{"m":2}""");
    }

    public void Dispose() => _node.Dispose();

    [Theory]
    [InlineData("this.n = load('other').m", "users/1", "\"n\":2")]
    [InlineData("this.n = load('OTHER').m + load('none')", "users/1", "\"n\":2")]
    [InlineData("put('new', { a: this.n })", "new", "\"a\":1")]
    [InlineData("this.x = put('new', { a: 1 }); this.y = load('new').a", "users/1", "\"x\":\"new\",\"y\":1")]
    [InlineData("put('other', { m: load('other').m + 1 }); this.n = load('other').m", "other", "\"m\":3")]
    [InlineData("del('other'); this.n = load('other')", "users/1", "\"n\":null")]
    [InlineData("this.x = del('other'); this.y = del('none')", "users/1", "\"x\":true,\"y\":false")]
    [InlineData("put('copy', this)", "copy", "\"n\":1")]
    [InlineData("put('c', this); this.c = getMetadata(load('c'))['@collection']", "users/1", "\"c\":\"Users\"")]
    [InlineData(
        "put('c', { '@metadata': { '@collection': 'Cats' } }); this.c = load('c')['@metadata']['@collection']",
        "users/1",
        "\"c\":\"Cats\""
    )]
    [InlineData("for (let i = 0; i < 3; i++) put('i/' + i, { i })", "i/2", "\"i\":2")]
    [InlineData("put('Ünï', { a: 1 }); this.n = load('ÜNÏ').a + 6", "users/1", "\"n\":7")]
    public void A_script_stores_what_it_puts_with_its_document(string script, string id, string content)
    {
        Assert.Null(Patch(script).Rejection);
        Reopen();
        Assert.Contains(content, _node.Documents("db")[id], StringComparison.Ordinal);
    }

    [Fact]
    public void An_id_that_ends_with_a_slash_or_bar_is_completed()
    {
        Assert.Null(Patch("this.a = put('x/', {}); this.b = put('y|', {}); this.c = put('y|', {})").Rejection);
        Reopen();
        var documents = _node.Documents("db");
        Assert.Contains("\"b\":\"y/1\",\"c\":\"y/2\"", documents["users/1"], StringComparison.Ordinal);
        Assert.Contains("\"a\":\"x/0000000000000000001-A\"", documents["users/1"], StringComparison.Ordinal);
        Assert.Contains("x/0000000000000000001-A", documents.Keys);
    }

    [Fact]
    public void Scripts_and_puts_share_the_numbers_of_the_database_and_pass_over_taken_ids()
    {
        _node.Put("db", "x/0000000000000000002-A", "{}");
        Assert.Null(Patch("this.a = put('y/', {}); this.b = put('X/', {}); this.c = put('x/', {})").Rejection);
        _node.Put("db", "z/", "{}");
        Reopen();
        var documents = _node.Documents("db");
        Assert.Contains(
            "\"a\":\"y/0000000000000000001-A\",\"b\":\"X/0000000000000000003-A\",\"c\":\"x/0000000000000000004-A\"",
            documents["users/1"],
            StringComparison.Ordinal
        );
        Assert.Contains("z/0000000000000000005-A", documents.Keys);
    }

    [Fact]
    public void An_identity_passes_over_any_number_of_taken_ids()
    {
        for (int i = 1; i <= 1100; i++)
        {
            _node.Put("db", $"y/{i}", "{}");
        }

        Assert.Null(Patch("this.a = put('y|', {}); this.b = put('y|', {}); this.c = put('Y|', {})").Rejection);
        string own = _node.Documents("db")["users/1"];
        using var json = JsonDocument.Parse("{" + own + "}");
        var ids = json.RootElement;
        long[] numbers =
        [
            .. new[] { "a", "b", "c" }.Select(name =>
                long.Parse(ids.GetProperty(name).GetString()![2..], CultureInfo.InvariantCulture)
            ),
        ];
        Assert.True(numbers[0] > 1100 && numbers[1] == numbers[0] + 1 && numbers[2] == numbers[1] + 1, own);
    }

    /// <summary>The sample of RavenDB's documentation that changes the collection of documents.</summary>
    [Fact]
    public void A_script_replaces_its_own_document()
    {
        var outcome = Patch(
            "del(id(this)); this['@metadata']['@collection'] = 'People'; this.n = 9; put(id(this), this)"
        );
        Assert.Null(outcome.Rejection);
        Assert.Equal(OperationStatus.Patched, outcome[0].Status);
        Reopen();
        Assert.Null(Patch("this.c = getMetadata(this)['@collection']").Rejection);
        Assert.Contains("\"c\":\"People\"", _node.Documents("db")["users/1"], StringComparison.Ordinal);
        Assert.Contains("\"n\":9", _node.Documents("db")["users/1"], StringComparison.Ordinal);
        Assert.Null(Patch("this.n = 10; del(id(this))").Rejection);
        Assert.DoesNotContain("users/1", _node.Documents("db").Keys);
    }

    [Theory]
    [InlineData("put('new', {}); throw 'x'", "throws 'x'")]
    [InlineData("put('new', {}); put('', {})", "without an id")]
    [InlineData("put('new', {}); put('a', 5)", "no object")]
    [InlineData("put('new', {}); put(5, {})", "no text")]
    [InlineData("put('new', {}); put('a', { '@metadata': { '@expires': 'x' } })", "refused")]
    [InlineData("put('new', {}); for (let i = 0; i < 300; i++) put('i/' + i, {})", "more than 256")]
    [InlineData("put('new', {}); for (let i = 0; i < 200; i++) put('i', { t: 'x'.repeat(60000) })", "more steps")]
    [InlineData("put('new', {}); for (let i = 0; i < 300; i++) load('i/' + i)", "loads more than 256")]
    public void A_script_that_fails_stores_nothing(string script, string reason)
    {
        var rejection = Patch(script).Rejection;
        Assert.Equal(RejectionKind.PatchFailed, rejection?.Kind);
        Assert.Contains(reason, rejection!.Message, StringComparison.Ordinal);
        Reopen();
        Assert.Equal(["other", "users/1"], _node.Documents("db").Keys.Order(StringComparer.Ordinal));
    }

    [Theory]
    [InlineData("put('other', {}, 'A:1-none')")]
    [InlineData("put('other', {}, '')")]
    [InlineData("del('other', 'A:1-none')")]
    [InlineData("del('none', 'A:1-none')")]
    public void Another_change_vector_refuses_the_whole_command(string script)
    {
        var rejection = Patch("this.n = 7; " + script).Rejection;
        Assert.Equal(RejectionKind.ConcurrencyConflict, rejection?.Kind);
        Reopen();
        Assert.Contains("\"n\":1", _node.Documents("db")["users/1"], StringComparison.Ordinal);
    }

    [Fact]
    public void Each_operation_of_a_batch_has_etags_of_its_own()
    {
        string[] scripts = ["put('a', {})", "for (const i of [1, 2]) put('b' + i, {})", "this.n = 5"];
        string commands = string.Join(
            ',',
            scripts.Select(static script =>
                $$"""{"Id":"users/1","Type":"PATCH","Patch":{"Script":{{JsonSerializer.Serialize(script)}} } }"""
            )
        );
        Assert.True(
            BatchRequestParser.TryParse(
                Encoding.UTF8.GetBytes($$"""{"Commands":[{{commands}},{"Id":"z","Type":"PUT","Document":{} }]}"""),
                _node.Database("db").Number,
                default,
                1 << 20,
                out var batch,
                out var error,
                FormatLevel.Newest
            ),
            error.What
        );
        Assert.Equal(4, batch.Count);
        var outcome = _node.Propose(batch.Command);
        Assert.Null(outcome.Rejection);
        Assert.Equal(
            [OperationStatus.NotModified, OperationStatus.NotModified, OperationStatus.Patched, OperationStatus.Stored],
            Enumerable.Range(0, 4).Select(index => outcome[index].Status)
        );
        Reopen();
        Assert.Equal(
            ["a", "b1", "b2", "other", "users/1", "z"],
            _node.Documents("db").Keys.Order(StringComparer.Ordinal)
        );
        Assert.Contains("\"n\":5", _node.Documents("db")["users/1"], StringComparison.Ordinal);
    }

    [Fact]
    public void The_script_for_a_missing_document_puts_others()
    {
        const string Request =
            """{"Patch":{"Script":"this.n = 1"},"PatchIfMissing":{"Script":"this.n = put('new', { a: 1 })"}}""";
        Assert.Null(_node.Propose(Parse(Request, "missing", FormatLevel.Newest)!).Rejection);
        Assert.Null(_node.Propose(Parse(Request, "missing", FormatLevel.Newest)!).Rejection);
        Reopen();
        Assert.Contains("\"a\":1", _node.Documents("db")["new"], StringComparison.Ordinal);
        Assert.Contains("\"n\":1", _node.Documents("db")["missing"], StringComparison.Ordinal);
    }

    [Fact]
    public void A_script_counts()
    {
        Assert.Null(
            Patch(
                "incrementCounter(this, 'Likes'); incrementCounter(id(this), 'likes', 41);"
                    + "this.n = counter(this, 'LIKES');"
                    + "this.none = counter(this, 'none'); incrementCounter('other', 'x', -2)"
            ).Rejection
        );
        Reopen();
        Assert.Contains("\"n\":42,\"none\":null", _node.Documents("db")["users/1"], StringComparison.Ordinal);
        Assert.Null(Patch("this.n = counter(this, 'likes'); this.m = counter('other', 'x')").Rejection);
        Assert.Contains("\"n\":42,\"none\":null,\"m\":-2", _node.Documents("db")["users/1"], StringComparison.Ordinal);
        Assert.Null(Patch("deleteCounter(this, 'Likes'); this.n = counter(this, 'likes')").Rejection);
        Reopen();
        Assert.Null(Patch("this.m = counter(this, 'likes')").Rejection);
        Assert.Contains(
            "\"n\":null,\"none\":null,\"m\":null",
            _node.Documents("db")["users/1"],
            StringComparison.Ordinal
        );
        Assert.Null(
            Patch(
                "incrementCounter(this, 'big', 9007199254740991); incrementCounter(this, 'big', 2);"
                    + "this.n = counter(this, 'big')"
            ).Rejection
        );
        Assert.Contains("\"n\":9007199254740993", _node.Documents("db")["users/1"], StringComparison.Ordinal);
        Assert.Contains(
            "not whole, or not below 2^53",
            Patch("incrementCounter(this, 'y', counter(this, 'big'))").Rejection!.Message,
            StringComparison.Ordinal
        );
    }

    [Theory]
    [InlineData("put('new', {})")]
    [InlineData("this.n = load('other').m")]
    public void Below_its_format_level_a_script_reaches_no_document(string script)
    {
        Assert.Null(Parse(RequestOf(script), "users/1", FormatLevel.ScriptsOfSecondVersion - 1));
        Assert.NotNull(Parse(RequestOf(script), "users/1", FormatLevel.ScriptsOfSecondVersion));
    }

    private CommandOutcome Patch(string script) =>
        _node.Propose(Parse(RequestOf(script), "users/1", FormatLevel.Newest)!);

    private static string RequestOf(string script) =>
        $$"""{"Patch":{"Script":{{JsonSerializer.Serialize(script)}} } }""";

    private CommandBuffer? Parse(string request, string id, int formatLevel)
    {
        bool isParsed = BatchRequestParser.TryParsePatch(
            Encoding.UTF8.GetBytes(request),
            Encoding.UTF8.GetBytes(id),
            expected: default,
            skipOnMismatch: false,
            _node.Database("db").Number,
            key: default,
            out var batch,
            out var error,
            formatLevel
        );
        Assert.True(isParsed || error.Kind == InputErrorKind.NotSupported, error.What);
        return isParsed ? batch.Command : null;
    }

    /// <summary>Opens the node again, so that the journal is replayed.</summary>
    private void Reopen()
    {
        _node.Dispose();
        _node = SteppedNode.Open(_disk, "/data/node", _time);
    }
}
