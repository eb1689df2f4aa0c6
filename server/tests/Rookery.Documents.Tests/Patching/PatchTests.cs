using System.Text.Json;
using CsCheck;
using Rookery.Documents.Commands;
using Rookery.Documents.Patching;
using Rookery.Documents.Stored;
using Rookery.Documents.Tests.Stored;
using Rookery.Json;
using Rookery.Platform;
using Rookery.Simulation;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Patching;

/// <summary>
/// Merge patches, and the scripts that RavenDB's typed sessions send. Other scripts are tested in CompiledPatchTests.
/// </summary>
public class PatchTests
{
    /// <summary>The examples of RFC 7396, appendix A, and one with an escaped name.</summary>
    [Theory]
    [InlineData("""{"a":"b"}""", """{"a":"c"}""", """{"a":"c"}""")]
    [InlineData("""{"a":"b"}""", """{"b":"c"}""", """{"a":"b","b":"c"}""")]
    [InlineData("""{"a":"b"}""", """{"a":null}""", """{}""")]
    [InlineData("""{"a":"b","b":"c"}""", """{"a":null}""", """{"b":"c"}""")]
    [InlineData("""{"a":["b"]}""", """{"a":"c"}""", """{"a":"c"}""")]
    [InlineData("""{"a":"c"}""", """{"a":["b"]}""", """{"a":["b"]}""")]
    [InlineData("""{"a":{"b":"c"}}""", """{"a":{"b":"d","c":null}}""", """{"a":{"b":"d"}}""")]
    [InlineData("""{"a":[{"b":"c"}]}""", """{"a":[1]}""", """{"a":[1]}""")]
    [InlineData("""["a","b"]""", """["c","d"]""", """["c","d"]""")]
    [InlineData("""{"a":"b"}""", """["c"]""", """["c"]""")]
    [InlineData("""{"a":"foo"}""", "null", "null")]
    [InlineData("""{"a":"foo"}""", "\"bar\"", "\"bar\"")]
    [InlineData("""{"e":null}""", """{"a":1}""", """{"e":null,"a":1}""")]
    [InlineData("""[1,2]""", """{"a":"b","c":null}""", """{"a":"b"}""")]
    [InlineData("""{}""", """{"a":{"bb":{"ccc":null}}}""", """{"a":{"bb":{}}}""")]
    [InlineData(
        """{"x":1,"\u0061":{"q":1},"z":2}""",
        """{"a":{"q":2},"z":null,"n":3}""",
        """{"x":1,"\u0061":{"q":2},"n":3}"""
    )]
    public void Merge_patches_follow_the_rfc(string target, string patch, string result)
    {
        var output = new PooledBytes();
        new MergePatch().Apply(Bytes(target), Bytes(patch), output);
        Assert.Equal(result, Text(output.Written));
    }

    [Fact]
    public void Random_merge_patches_agree_with_the_definition() =>
        Gen.Select(RandomJson.Value(depth: 3), RandomJson.Value(depth: 3))
            .CheckEach(
                3000,
                static one =>
                {
                    var (target, patch) = one;
                    var output = new PooledBytes();
                    new MergePatch().Apply(Bytes(target), Bytes(patch), output);
                    using JsonDocument actual = JsonDocument.Parse(Text(output.Written));
                    string expected = ApplyDefinition(ParseNode(target), ParseNode(patch))?.ToJsonString() ?? "null";
                    Assert.True(
                        JsonElement.DeepEquals(JsonElement.Parse(expected), actual.RootElement),
                        $"{expected} is expected, not {Text(output.Written)}"
                    );
                }
            );

    [Fact]
    public void A_script_that_repeats_a_long_value_is_refused_before_it_fills_memory()
    {
        string script = string.Concat(Enumerable.Repeat("this.a=$v;", 100_000));
        // Compiled, the script would be 10^10 bytes: 100,000 times the value of 100,000 letters.
        string body = $$"""{"Patch":{"Script":"{{script}}","Values":{"v":"{{new string('x', 100_000)}}"} } }""";
        Assert.False(
            BatchRequestParser.TryParsePatch(
                Bytes(body),
                "a"u8,
                expected: default,
                skipOnMismatch: false,
                database: 1,
                key: default,
                out _,
                out InputError error
            )
        );
        Assert.Equal(InputErrorCode.InvalidPatch, error.Code);
        Assert.Contains("8.0 MiB", error.What, StringComparison.Ordinal);
    }

    [Fact]
    public void A_merge_of_large_objects_is_not_quadratic()
    {
        string target = "{" + string.Join(',', Enumerable.Range(0, 200_000).Select(key => $"\"a{key}\":1")) + "}";
        string patch = "{" + string.Join(',', Enumerable.Range(0, 200_000).Select(key => $"\"a{key * 2}\":2")) + "}";
        var output = new PooledBytes();
        // Comparing each member with each other would take 4 × 10^10 comparisons, which would not end.
        new MergePatch().Apply(Bytes(target), Bytes(patch), output);
        using JsonDocument merged = JsonDocument.Parse(output.WrittenMemory);
        Assert.Equal(300_000, merged.RootElement.EnumerateObject().Count());
    }

    [Theory]
    // The patch, the id, and what the patched document has: body, collection, metadata, and ticks at which it expires.
    [InlineData(
        """{"a":2,"@metadata":{"k":null,"n":1,"@collection":"B"}}""",
        "a",
        """{"a":2}""",
        "B",
        """{"j":1,"n":1}""",
        5
    )]
    [InlineData(
        """{"@metadata":{"@collection":null,"@expires":null}}""",
        "a",
        """{"a":1}""",
        "",
        """{"k":1,"j":1}""",
        0
    )]
    [InlineData(
        """{"@metadata":{"@expires":"0001-01-01T00:00:01Z","@id":"other"}}""",
        "a",
        """{"a":1}""",
        "A",
        """{"k":1,"j":1,"@expires":"0001-01-01T00:00:01Z"}""",
        10_000_000
    )]
    public void A_merge_patch_of_metadata_changes_collection_and_expiry(
        string patch,
        string id,
        string body,
        string collection,
        string metadata,
        long expires
    )
    {
        byte[] value = StoredDocumentTests.Store("""{"a":1,"@metadata":{"k":1,"j":1,"@collection":"A"}}""", id);
        byte[] head = new byte[StoredDocument.MaxHeadBytes];
        int headLength = StoredDocument.WriteHead(head, Bytes(id), lastModifiedTicks: 1, expiresAtTicks: 5);
        value = [.. head[..headLength], .. new DocumentView(value).Content];
        Assert.True(
            BatchRequestParser.TryParseMergePatch(
                Bytes(patch),
                Bytes(id),
                expected: default,
                skipOnMismatch: false,
                createIfMissing: false,
                returnsDocument: true,
                database: 1,
                key: default,
                out ParsedBatch batch,
                out InputError error
            ),
            error.ToString()
        );
        using CommandBuffer command = batch.Command;
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Patched, evaluator.Apply(ProgramOf(command), new DocumentView(value)));
        var patched = new DocumentView([.. head[..headLength], .. evaluator.Content]);
        Assert.Equal(
            (body, collection, metadata, expires),
            (
                $"{{{Text(patched.Body)}}}",
                Text(evaluator.Collection),
                $"{{{Text(patched.Metadata)}}}",
                evaluator.ExpiresAtTicks
            )
        );
    }

    // The script, the body, the value of args.v, and the patched body.
    [Theory]
    [InlineData("this.a = args.v", """{"a":1}""", "5", """{"a":5}""")]
    [InlineData("this.n = args.v;", """{"a":1}""", "\"x\"", """{"a":1,"n":"x"}""")]
    [InlineData("this.n = $v;", """{}""", "{\"q\":[ 1 ]}", """{"n":{"q":[1]}}""")]
    [InlineData("this.a.b.c = args.v", """{"a":{"b":{"c":1,"d":2}}}""", "null", """{"a":{"b":{"c":null,"d":2}}}""")]
    [InlineData("this.l[1].q = args.v", """{"l":[{"q":1},{"q":2}]}""", "3", """{"l":[{"q":1},{"q":3}]}""")]
    [InlineData("this[\"a b\"]['c'] = args.v", """{"a b":{}}""", "3", """{"a b":{"c":3}}""")]
    [InlineData("this.l[2] = args.v", """{"l":[1,2]}""", "3", """{"l":[1,2,3]}""")]
    [InlineData("this.a = this.a ? this.a + args.v : args.v;", """{"a":1}""", "5", """{"a":6}""")]
    [InlineData("this.a = this.a ? this.a + args.v : args.v", """{}""", "5", """{"a":5}""")]
    [InlineData("this.a = this.a ? this.a + args.v : args.v", """{"a":0.0}""", "5", """{"a":5}""")]
    [InlineData("this.a = this.a ? this.a + args.v : args.v", """{"a":0.1}""", "0.2", """{"a":0.30000000000000004}""")]
    [InlineData(
        "this.a = this.a ? this.a + args.v : args.v",
        """{"a":9007199254740993}""",
        "2",
        """{"a":9007199254740995}"""
    )]
    [InlineData("this.a = this.a ? this.a + args.v : args.v", """{"a":"x\n"}""", "\"y\"", """{"a":"x\ny"}""")]
    [InlineData("this.a = this.a ? this.a + args.v : args.v", """{"a":"x"}""", "7", """{"a":"x7"}""")]
    [InlineData("this.l.push(args.v,args.v);", """{"l":[]}""", "1", """{"l":[1,1]}""")]
    [InlineData("this.l.push(args.v)", """{"l":[0,[2]]}""", "{\"a\":1}", """{"l":[0,[2],{"a":1}]}""")]
    [InlineData("this.l.splice(args.v, 1);", """{"l":[0,1,2]}""", "1", """{"l":[0,2]}""")]
    [InlineData("this.l.splice(args.v, 1);", """{"l":[0,1,2]}""", "-1", """{"l":[0,1]}""")]
    [InlineData("this.l.splice(args.v, 1);", """{"l":[0]}""", "0", """{"l":[]}""")]
    [InlineData("this.l.splice(args.v, 1);", """{"l":[0]}""", "9", """{"l":[0]}""")]
    [InlineData("delete this.a.k;", """{"a":{"j":1,"k":2}}""", "0", """{"a":{"j":1}}""")]
    [InlineData("delete this.a.k", """{"a":{"k":2,"j":1}}""", "0", """{"a":{"j":1}}""")]
    [InlineData("delete this.a.k", """{"a":{}}""", "0", """{"a":{}}""")]
    [InlineData(
        "this.a = args.v\nthis.l.push(args.v);\r\n  delete this.q.r ;",
        """{"l":[1],"q":{"r":1}}""",
        "2",
        """{"l":[1,2],"q":{},"a":2}"""
    )]
    [InlineData("this.\u00e9 = args.v", """{"\u00e9":1}""", "2", """{"\u00e9":2}""")]
    public void Scripts_of_typed_sessions_change_the_body(string script, string body, string v, string result)
    {
        using var evaluator = new PatchEvaluator();
        PatchStatus status = Run(evaluator, script, v, body, out string patched);
        Assert.Null(evaluator.Failure);
        Assert.Equal(result, patched);
        Assert.Equal(
            string.Equals(result, body, StringComparison.Ordinal) ? PatchStatus.NotModified : PatchStatus.Patched,
            status
        );
    }

    [Theory]
    [InlineData("this.a.b = args.v", """{}""", "this.a does not exist")]
    [InlineData("this.a.b = args.v", """{"a":5}""", "no object")]
    [InlineData("this.a[0] = args.v", """{"a":{}}""", "no array")]
    [InlineData("this.a[5] = args.v", """{"a":[]}""", "gap")]
    [InlineData("this.a.push(args.v)", """{}""", "does not exist")]
    [InlineData("this.a.push(args.v)", """{"a":{}}""", "no array")]
    [InlineData("this.a.splice(args.v, 1)", """{"a":[1]}""", "no integer")]
    [InlineData("this.a = this.a ? this.a + args.v : args.v", """{"a":{}}""", "cannot be added")]
    [InlineData("delete this.a.b", """{}""", "this.a does not exist")]
    public void A_script_that_does_not_fit_the_document_fails_with_the_reason(string script, string body, string reason)
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.Failed, Run(evaluator, script, "\"v\"", body, out _));
        Assert.Contains(reason, evaluator.Failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("this.a = 1")]
    [InlineData("this.a == args.v")]
    [InlineData("this.a = args.v + args.v")]
    [InlineData("this.a = this.b ? this.a + args.v : args.v")]
    [InlineData("this.a = this.a ? this.a + args.v : 0")]
    [InlineData("this.a.pop()")]
    [InlineData("this.a.splice(args.v, 2)")]
    [InlineData("for (const x of this.l) { x.a = 1 }")]
    [InlineData("put('a', this)")]
    [InlineData("this['@metadata']['@collection'] = args.v")]
    [InlineData("delete this.a[0]")]
    [InlineData("thisa = args.v")]
    [InlineData("var a = args.v")]
    [InlineData("this.a = args.v // comment")]
    public void At_the_oldest_format_level_scripts_beyond_the_simple_forms_are_refused(string script)
    {
        InputError error = ParseRefused(script);
        Assert.Equal((InputErrorCode.NotSupported, InputErrorKind.NotSupported), (error.Code, error.Kind));
        Assert.Contains(script[..8], error.What, StringComparison.Ordinal);
    }

    /// <summary>RavenDB's client sends an empty script if a call changes nothing in an array or a map.</summary>
    [Theory]
    [InlineData("")]
    [InlineData(" ;\n")]
    public void A_script_without_lines_changes_nothing(string script)
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(PatchStatus.NotModified, Run(evaluator, script, "1", """{"a":1}""", out _));
        Assert.Equal(
            PatchStatus.Created,
            ApplyToMissing(
                evaluator,
                $$"""{"Patch":{"Script":{{JsonSerializer.Serialize(script)}}},"PatchIfMissing":{"Script":"" } }"""
            )
        );
    }

    [Fact]
    public void A_missing_document_is_created_only_if_the_patch_requests_it()
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(
            PatchStatus.DocumentDoesNotExist,
            ApplyToMissing(
                evaluator,
                """{"Patch":{"Script":"this.a = args.v","Values":{"v":1}},"PatchIfMissing":null}"""
            )
        );
        Assert.Equal(
            PatchStatus.Created,
            ApplyToMissing(
                evaluator,
                """{"Patch":{"Script":"this.a = args.v","Values":{"v":1}},"PatchIfMissing":{"Script":"this.b = args.v","Values":{"v":2}}}"""
            )
        );
        Assert.EndsWith("\"b\":2", Text(evaluator.Content), StringComparison.Ordinal);

        // A batch may give the document to create, and a merge patch may ask for its creation.
        using CommandBuffer create = Batch(
            """{"Commands":[{"Id":"a","Type":"PATCH","Patch":{"Script":"this.a = args.v","Values":{"v":1}},"CreateIfMissing":{"c":3,"@metadata":{"@collection":"C","@expires":"0001-01-01T00:00:01Z"}}}]}"""
        );
        Assert.Equal(PatchStatus.Created, evaluator.ApplyToMissing(ProgramOf(create)));
        Assert.Equal(("C", 10_000_000L), (Text(evaluator.Collection), evaluator.ExpiresAtTicks));
        Assert.EndsWith("\"c\":3", Text(evaluator.Content), StringComparison.Ordinal);

        Assert.True(
            BatchRequestParser.TryParseMergePatch(
                "{\"a\":{\"b\":null,\"c\":1}}"u8,
                "x"u8,
                expected: default,
                skipOnMismatch: false,
                createIfMissing: true,
                returnsDocument: true,
                database: 1,
                key: default,
                out ParsedBatch merge,
                out _
            )
        );
        using CommandBuffer command = merge.Command;
        Assert.Equal(PatchStatus.Created, evaluator.ApplyToMissing(ProgramOf(command)));
        Assert.EndsWith("\"a\":{\"c\":1}", Text(evaluator.Content), StringComparison.Ordinal);
    }

    [Fact]
    public void A_patch_cannot_exceed_the_limits_of_a_document()
    {
        using var evaluator = new PatchEvaluator();
        string deep = new string('[', 127) + new string(']', 127);
        Assert.Equal(PatchStatus.Failed, Run(evaluator, "this.a.b = args.v", deep, "{\"a\":{}}", out _));
        Assert.Contains("128 levels", evaluator.Failure, StringComparison.Ordinal);
        string half = $"\"{new string('x', 5 << 20)}\"";
        Assert.Equal(PatchStatus.Failed, Run(evaluator, "this.b = args.v", half, $"{{\"a\":{half}}}", out _));
        Assert.Contains("larger", evaluator.Failure, StringComparison.Ordinal);
    }

    private static PatchStatus Run(
        PatchEvaluator evaluator,
        string script,
        string value,
        string body,
        out string patched
    )
    {
        string request =
            "{\"Patch\":{\"Script\":" + JsonSerializer.Serialize(script) + ",\"Values\":{\"v\":" + value + "}}}";
        Assert.True(
            BatchRequestParser.TryParsePatch(
                Bytes(request),
                "x"u8,
                expected: default,
                skipOnMismatch: false,
                database: 1,
                key: default,
                out ParsedBatch batch,
                out InputError error
            ),
            error.ToString()
        );
        using CommandBuffer command = batch.Command;
        PatchStatus status = evaluator.Apply(
            ProgramOf(command),
            new DocumentView(StoredDocumentTests.Store(body, "x"))
        );
        byte[] head = new byte[StoredDocument.MaxHeadBytes];
        int length = StoredDocument.WriteHead(head, "x"u8, lastModifiedTicks: 0, expiresAtTicks: 0);
        patched =
            status == PatchStatus.Failed
                ? ""
                : $"{{{Text(new DocumentView([.. head[..length], .. evaluator.Content]).Body)}}}";
        return status;
    }

    private static PatchStatus ApplyToMissing(PatchEvaluator evaluator, string request)
    {
        Assert.True(
            BatchRequestParser.TryParsePatch(
                Bytes(request),
                "x"u8,
                expected: default,
                skipOnMismatch: false,
                database: 1,
                key: default,
                out ParsedBatch batch,
                out InputError error
            ),
            error.ToString()
        );
        using CommandBuffer command = batch.Command;
        return evaluator.ApplyToMissing(ProgramOf(command));
    }

    private static InputError ParseRefused(string script)
    {
        string request = "{\"Patch\":{\"Script\":" + JsonSerializer.Serialize(script) + ",\"Values\":{\"v\":1}}}";
        Assert.False(
            BatchRequestParser.TryParsePatch(
                Bytes(request),
                "x"u8,
                expected: default,
                skipOnMismatch: false,
                database: 1,
                key: default,
                out _,
                out InputError error
            ),
            script
        );
        AssertHelpful(error);
        return error;
    }

    private static CommandBuffer Batch(string body)
    {
        Assert.True(
            BatchRequestParser.TryParse(
                Bytes(body),
                database: 1,
                key: default,
                maxBatchBytes: 1 << 20,
                out ParsedBatch batch,
                out InputError error
            ),
            error.ToString()
        );
        return batch.Command;
    }

    private static PatchProgram ProgramOf(CommandBuffer command)
    {
        var reader = new CommandReader(command.Written.Span);
        Assert.True(reader.TryReadOperation(out Operation operation));
        return operation.Patch;
    }

    private static System.Text.Json.Nodes.JsonNode? ParseNode(string json) =>
        System.Text.Json.Nodes.JsonNode.Parse(json);

    /// <summary>The pseudo code of RFC 7396, section 2.</summary>
    private static System.Text.Json.Nodes.JsonNode? ApplyDefinition(
        System.Text.Json.Nodes.JsonNode? target,
        System.Text.Json.Nodes.JsonNode? patch
    )
    {
        if (patch is not System.Text.Json.Nodes.JsonObject members)
        {
            return patch?.DeepClone();
        }

        var result = target as System.Text.Json.Nodes.JsonObject ?? [];
        foreach ((string name, System.Text.Json.Nodes.JsonNode? value) in members)
        {
            if (value is null)
            {
                result.Remove(name);
            }
            else
            {
                result[name] = ApplyDefinition(result[name]?.DeepClone(), value);
            }
        }

        return result;
    }
}
