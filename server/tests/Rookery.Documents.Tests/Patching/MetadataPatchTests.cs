using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Documents.Patching;
using Rookery.Documents.Stored;
using Rookery.Documents.Tests.Stored;
using Rookery.Json;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Patching;

/// <summary>A patch script changes the metadata that a PUT could change, and nothing else of it.</summary>
public class MetadataPatchTests
{
    private const string Document =
        """{"n":1,"@metadata":{"@collection":"Users","k":{"list":[1]},"@expires":"2030-01-02T03:04:05.0000000Z"}}""";

    private static readonly long ExpiresAtTicks = new DateTime(2030, 1, 2, 3, 4, 5, DateTimeKind.Utc).Ticks;

    [Theory]
    [InlineData("this['@metadata'].owner = args.v", "\"owner\":7")]
    [InlineData("getMetadata(this)['@archive-at'] = '2031-01-01'", "\"@archive-at\":\"2031-01-01\"")]
    [InlineData("const m = getMetadata(this); m.k.list.push(2)", "\"k\":{\"list\":[1,2]}")]
    [InlineData("const list = this['@metadata'].k.list; list.push(2)", "\"k\":{\"list\":[1,2]}")]
    [InlineData("this['@metadata'].k.list.push(args.v)", "\"k\":{\"list\":[1,7]}")]
    [InlineData("this['@metadata']['k']['list'].splice(args.zero, 1)", "\"k\":{\"list\":[]}")]
    [InlineData("function f(m) { m.k = 5 } f(this['@metadata'])", "\"k\":5")]
    [InlineData("for (const name in getMetadata(this)) if (name === 'k') this['@metadata'][name] = 6", "\"k\":6")]
    [InlineData("this['@metadata'].owner ??= 'Ann'", "\"owner\":\"Ann\"")]
    [InlineData("Object.assign(getMetadata(this), { owner: 'Ann' })", "\"owner\":\"Ann\"")]
    [InlineData(
        "Object.assign(this, { '@metadata': { owner: args.v, '@expires': '2030-01-02T03:04:05.0000000Z' } })",
        "\"owner\":7"
    )]
    public void A_script_sets_members_of_the_metadata(string script, string member)
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Patched, evaluator.Apply(Program(script), Stored()));
        Assert.Contains(member, Text(evaluator.Content), StringComparison.Ordinal);
        Assert.EndsWith("\"n\":1", Text(evaluator.Content), StringComparison.Ordinal);
        Assert.Equal("Users", Text(evaluator.Collection));
        Assert.Equal(ExpiresAtTicks, evaluator.ExpiresAtTicks);
        Assert.DoesNotContain("@id", Text(evaluator.Content), StringComparison.Ordinal);
        Assert.DoesNotContain("@last-modified", Text(evaluator.Content), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("this['@metadata']['@expires'] = '2031-01-01T00:00:00.0000000Z'", 2031)]
    [InlineData("this['@metadata']['@expires'] = args.none", 0)]
    [InlineData("this['@metadata']['@expires'] = null", 0)]
    [InlineData("delete getMetadata(this)['@expires']", 0)]
    [InlineData("this['@metadata'] = { k: 1 }", 0)]
    [InlineData("delete this['@metadata']", 0)]
    [InlineData("this['@metadata'].k = 1", 2030)]
    public void A_change_of_expires_in_the_metadata_changes_the_expiry(string script, int year)
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Patched, evaluator.Apply(Program(script), Stored()));
        Assert.Equal(year, evaluator.ExpiresAtTicks == 0 ? 0 : new DateTime(evaluator.ExpiresAtTicks).Year);
        Assert.Equal("Users", Text(evaluator.Collection));
    }

    [Theory]
    [InlineData("this['@metadata']['@collection'] = 'Orders'", "change the collection")]
    [InlineData("this['@metadata'] = { '@collection': 'users' }", "change the collection")]
    [InlineData("this['@metadata']['@collection'] = 5", "@collection must be a string")]
    [InlineData("this['@metadata']['@id'] = 'y'", "change the id")]
    [InlineData("this['@metadata']['@expires'] = 'tomorrow'", "@expires is not a date")]
    [InlineData("this['@metadata']['@expires'] = 5", "@expires must be a date")]
    [InlineData("this['@metadata'] = [1]", "can only be set to an object")]
    [InlineData("Object.assign(this, { '@metadata': 5 })", "can only be set to an object")]
    [InlineData("Object.assign(this, { '@metadata': { '@collection': 'Orders' } })", "change the collection")]
    [InlineData("const k = '@metadata'; this[k].a = 1", "metadata cannot be changed")]
    public void A_forbidden_change_of_the_metadata_fails_with_the_reason(string script, string reason)
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Failed, evaluator.Apply(Program(script), Stored()));
        Assert.Contains(reason, evaluator.Failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("const m = this['@metadata']")]
    [InlineData("if (getMetadata(this)['@collection'] === 'Orders') this.n = 2")]
    [InlineData("this['@metadata']['@last-modified'] = 'x'; this['@metadata']['@flags'] = 'y'")]
    public void A_document_whose_metadata_is_only_read_is_not_modified(string script)
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.NotModified, evaluator.Apply(Program(script), Stored()));
    }

    [Fact]
    public void A_script_that_creates_a_document_gives_it_a_collection()
    {
        string request = JsonSerializer.Serialize(
            new
            {
                Patch = new { Script = "this.n++" },
                PatchIfMissing = new { Script = "this.n = 1; this['@metadata']['@collection'] = 'Orders'" },
            }
        );
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Created, evaluator.ApplyToMissing(ProgramOf(request, FormatLevel.Newest)));
        Assert.Equal("Orders", Text(evaluator.Collection));
        Assert.EndsWith("\"n\":1", Text(evaluator.Content), StringComparison.Ordinal);
    }

    [Fact]
    public void Until_an_upgrade_is_finalized_scripts_can_only_read_metadata()
    {
        var reading = ProgramOf(Request("this.c = getMetadata(this)['@collection']"), FormatLevel.Scripts);
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Patched, evaluator.Apply(reading, Stored()));
        Assert.EndsWith("\"c\":\"Users\"", Text(evaluator.Content), StringComparison.Ordinal);
        foreach (string script in new[] { "this['@metadata'].k = 1", "this['@metadata'].k.list.push(args.v)" })
        {
            Assert.False(TryParse(Request(script), FormatLevel.Scripts, out _, out var error), script);
            Assert.Contains("finalize-upgrade", error.What, StringComparison.Ordinal);
        }
    }

    private static DocumentView Stored() => new(StoredDocumentTests.Store(Document, "x"));

    private static PatchProgram Program(string script) => ProgramOf(Request(script), FormatLevel.Newest);

    private static string Request(string script) =>
        JsonSerializer.Serialize(new { Patch = new { Script = script, Values = new { v = 7, zero = 0 } } });

    private static PatchProgram ProgramOf(string request, int level)
    {
        Assert.True(TryParse(request, level, out var command, out var error), error.ToString());
        var reader = new CommandReader(command.Written.Span);
        Assert.True(reader.TryReadOperation(out var operation));
        return operation.Patch;
    }

    private static bool TryParse(string request, int level, out CommandBuffer command, out InputError error)
    {
        bool isParsed = BatchRequestParser.TryParsePatch(
            Bytes(request),
            "x"u8,
            expected: default,
            skipOnMismatch: false,
            database: 1,
            key: default,
            out var batch,
            out error,
            level
        );
        command = batch.Command;
        return isParsed;
    }
}
