using System.Text.Json;
using System.Text.Json.Nodes;
using CsCheck;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Patching;
using Rookery.Documents.Stored;
using Rookery.Documents.Tests.Nodes;
using Rookery.Documents.Tests.Stored;
using Rookery.Json;
using Rookery.Simulation;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Patching;

/// <summary>JSON Patches (RFC 6902): their operations, limits and refusals.</summary>
public class JsonPatchTests
{
    /// <summary>The examples of RFC 6902, appendix A, and further cases.</summary>
    [Theory]
    [InlineData("""{"foo":"bar"}""", """[{"op":"add","path":"/baz","value":"qux"}]""", """{"foo":"bar","baz":"qux"}""")]
    [InlineData(
        """{"foo":["bar","baz"]}""",
        """[{"op":"add","path":"/foo/1","value":"qux"}]""",
        """{"foo":["bar","qux","baz"]}"""
    )]
    [InlineData("""{"baz":"qux","foo":"bar"}""", """[{"op":"remove","path":"/baz"}]""", """{"foo":"bar"}""")]
    [InlineData(
        """{"foo":["bar","qux","baz"]}""",
        """[{"op":"remove","path":"/foo/1"}]""",
        """{"foo":["bar","baz"]}"""
    )]
    [InlineData(
        """{"baz":"qux","foo":"bar"}""",
        """[{"op":"replace","path":"/baz","value":"boo"}]""",
        """{"baz":"boo","foo":"bar"}"""
    )]
    [InlineData(
        """{"foo":{"bar":"baz","waldo":"fred"},"qux":{"corge":"grault"}}""",
        """[{"op":"move","from":"/foo/waldo","path":"/qux/thud"}]""",
        """{"foo":{"bar":"baz"},"qux":{"corge":"grault","thud":"fred"}}"""
    )]
    [InlineData(
        """{"foo":["all","grass","cows","eat"]}""",
        """[{"op":"move","from":"/foo/1","path":"/foo/3"}]""",
        """{"foo":["all","cows","eat","grass"]}"""
    )]
    [InlineData(
        """{"baz":"qux","foo":["a",2,"c"]}""",
        """[{"op":"test","path":"/baz","value":"qux"},{"op":"test","path":"/foo/1","value":2}]""",
        """{"baz":"qux","foo":["a",2,"c"]}"""
    )]
    [InlineData(
        """{"foo":"bar"}""",
        """[{"op":"add","path":"/child","value":{"grandchild":{}}}]""",
        """{"foo":"bar","child":{"grandchild":{}}}"""
    )]
    [InlineData(
        """{"foo":"bar"}""",
        """[{"op":"add","path":"/baz","value":"qux","xyz":123}]""",
        """{"foo":"bar","baz":"qux"}"""
    )]
    [InlineData("""{"/":9,"~1":10}""", """[{"op":"test","path":"/~01","value":10}]""", """{"/":9,"~1":10}""")]
    [InlineData(
        """{"foo":["bar"]}""",
        """[{"op":"add","path":"/foo/-","value":["abc","def"]}]""",
        """{"foo":["bar",["abc","def"]]}"""
    )]
    [InlineData("""{"a":1}""", """[{"op":"add","path":"/a","value":2}]""", """{"a":2}""")]
    [InlineData("""{"a":[1]}""", """[{"op":"add","path":"/a/1","value":2}]""", """{"a":[1,2]}""")]
    [InlineData("""{"a":[]}""", """[{"op":"add","path":"/a/0","value":null}]""", """{"a":[null]}""")]
    [InlineData("""{"a/b":{"~":1}}""", """[{"op":"remove","path":"/a~1b/~0"}]""", """{"a/b":{}}""")]
    [InlineData("""{}""", """[{"op":"add","path":"/a~1~0b","value":1}]""", """{"a/~b":1}""")]
    [InlineData("""{}""", """[{"op":"add","path":"/","value":1}]""", """{"":1}""")]
    [InlineData("""{"a":{"-":1}}""", """[{"op":"replace","path":"/a/-","value":2}]""", """{"a":{"-":2}}""")]
    [InlineData("""{"a":1}""", """[{"op":"copy","from":"/a","path":"/b"}]""", """{"a":1,"b":1}""")]
    [InlineData("""{"a":1}""", """[{"op":"copy","from":"","path":"/b"}]""", """{"a":1,"b":{"a":1}}""")]
    [InlineData("""{"a":{"b":1}}""", """[{"op":"copy","from":"/a","path":""}]""", """{"b":1}""")]
    [InlineData("""{"a":{"b":1}}""", """[{"op":"move","from":"/a","path":""}]""", """{"b":1}""")]
    [InlineData("""{"a":1}""", """[{"op":"move","from":"/a","path":"/a"}]""", """{"a":1}""")]
    [InlineData("""{"a":1}""", """[{"op":"replace","path":"","value":{"b":2}}]""", """{"b":2}""")]
    [InlineData(
        """{"a":{"x":1.0,"y":"\u0041"}}""",
        """[{"op":"test","path":"/a","value":{"y":"A","x":1e0}}]""",
        """{"a":{"x":1.0,"y":"\u0041"}}"""
    )]
    [InlineData(
        """{"a":123456789012345678901234567890123456789012.50,"b":-0.0,"c":[1e20,10.0]}""",
        """
            [{"op":"test","path":"/a","value":1234567890123456789012345678901234567890125e-1},
             {"op":"test","path":"/b","value":0e7},{"op":"test","path":"/c","value":[100000000000000000000,1E1]}]
            """,
        """{"a":123456789012345678901234567890123456789012.50,"b":-0.0,"c":[1e20,10.0]}"""
    )]
    [InlineData(
        """{"a":1}""",
        """[{"op":"remove","path":"/a","from":5},{"from":{"x":[]},"op":"add","path":"/b","value":2}]""",
        """{"b":2}"""
    )]
    [InlineData("""{"\u00e9":1}""", """[{"op":"replace","path":"/\u00e9","value":2}]""", """{"\u00e9":2}""")]
    [InlineData("""{"a":1}""", "[]", """{"a":1}""")]
    public void Operations_follow_the_rfc(string body, string operations, string result)
    {
        using var evaluator = new PatchEvaluator();
        var status = Run(evaluator, operations, body, out string patched);
        Assert.Null(evaluator.Failure);
        Assert.Equal(result, patched);
        Assert.Equal(
            string.Equals(result, body, StringComparison.Ordinal) ? PatchStatus.NotModified : PatchStatus.Patched,
            status
        );
    }

    [Theory]
    [InlineData("""{"op":"test","path":"/a","value":"x"}""", "(test /a): the current value 1 is not equal")]
    [InlineData("""{"op":"test","path":"/a","value":"1"}""", "is not equal to the test value \"1\"")]
    [InlineData("""{"op":"test","path":"/n","value":1234567890123456789012345678901234567890124}""", "is not equal")]
    [InlineData(
        """{"op":"test","path":"/n","value":1.234567890123456789012345678901234567890123e43}""",
        "is not equal"
    )]
    [InlineData("""{"op":"test","path":"/n","value":-1234567890123456789012345678901234567890123}""", "is not equal")]
    [InlineData("""{"op":"test","path":"/e","value":1e20000}""", "is not equal")]
    [InlineData("""{"op":"test","path":"/l","value":[1]}""", "is not equal")]
    [InlineData("""{"op":"test","path":"/l","value":[1,2,3]}""", "is not equal")]
    [InlineData("""{"op":"test","path":"/none","value":null}""", "there is no such member")]
    [InlineData("""{"op":"add","path":"/b/c/d","value":1}""", "there is no value at /b/c")]
    [InlineData("""{"op":"add","path":"/a/b","value":1}""", "the value at /a is no object and no array")]
    [InlineData("""{"op":"add","path":"/l/3","value":1}""", "position 3 is out of array bounds")]
    [InlineData("""{"op":"remove","path":"/l/2"}""", "position 2 is out of array bounds")]
    [InlineData("""{"op":"remove","path":"/l/-"}""", "out of array bounds")]
    [InlineData("""{"op":"replace","path":"/l/99999999999999999999","value":1}""", "out of array bounds")]
    [InlineData("""{"op":"remove","path":"/l/01"}""", "expected an index but got '01' for the array at /l")]
    [InlineData("""{"op":"remove","path":"/l/x"}""", "expected an index but got 'x'")]
    [InlineData("""{"op":"remove","path":"/none"}""", "there is no such member")]
    [InlineData("""{"op":"replace","path":"/none","value":1}""", "there is no such member")]
    [InlineData("""{"op":"copy","from":"/none","path":"/x"}""", "there is no such member")]
    [InlineData("""{"op":"copy","from":"/a","path":""}""", "must stay an object")]
    [InlineData("""{"op":"move","from":"/m","path":""}""", "@metadata")]
    public void A_failure_names_the_operation_by_its_number(string operation, string reason)
    {
        using var evaluator = new PatchEvaluator();
        Assert.Equal(
            PatchStatus.Failed,
            Run(
                evaluator,
                $$"""[{"op":"add","path":"/a","value":1},{{operation}}]""",
                """
                {"b":{},"l":[1,2],"m":{"@metadata":1},"n":1234567890123456789012345678901234567890123,"e":1e20001}
                """,
                out _
            )
        );
        Assert.StartsWith("Operations[1] (", evaluator.Failure, StringComparison.Ordinal);
        Assert.Contains(reason, evaluator.Failure, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"op":"increment","path":"/a","value":1}""", InputErrorCode.InvalidPatch, "'increment'")]
    [InlineData("""{"path":"/a","value":1}""", InputErrorCode.InvalidPatch, "no 'op'")]
    [InlineData("""{"op":"add","value":1}""", InputErrorCode.InvalidPatch, "no 'path'")]
    [InlineData("""{"op":"add","path":"/a"}""", InputErrorCode.InvalidPatch, "no 'value'")]
    [InlineData("""{"from":5,"op":"copy","path":"/a"}""", InputErrorCode.WrongType, "'from'")]
    [InlineData("""{"op":"copy","from":null,"path":"/a"}""", InputErrorCode.InvalidPatch, "no 'from'")]
    [InlineData("""{"op":"remove","path":"a"}""", InputErrorCode.InvalidPatch, "no JSON pointer")]
    [InlineData("""{"op":"remove","path":"/a~2"}""", InputErrorCode.InvalidPatch, "no JSON pointer")]
    [InlineData("""{"op":"remove","path":"/a~"}""", InputErrorCode.InvalidPatch, "no JSON pointer")]
    [InlineData("""{"op":"move","from":"/a","path":"/a/b"}""", InputErrorCode.InvalidPatch, "into itself")]
    [InlineData("""{"op":"remove","path":""}""", InputErrorCode.InvalidPatch, "removes the whole document")]
    [InlineData("""{"op":"replace","path":"","value":[]}""", InputErrorCode.InvalidPatch, "no object")]
    [InlineData("""{"op":"add","path":"/@metadata/k","value":1}""", InputErrorCode.NotSupported, "@metadata")]
    [InlineData("""{"op":"copy","from":"/@metadata","path":"/k"}""", InputErrorCode.NotSupported, "@metadata")]
    [InlineData("""{"op":"add","path":"","value":{"@metadata":{}}}""", InputErrorCode.NotSupported, "@metadata")]
    [InlineData("""{"op":"add","path":"/a","value":{"x":1,"x":2}}""", InputErrorCode.DuplicateKey, "twice")]
    [InlineData(
        """{"op":"123456789.123456789.123456789.123456789.123456789.123456789.123😀","path":"/a"}""",
        InputErrorCode.InvalidPatch,
        "789.123…' of"
    )]
    public void A_malformed_operation_is_refused_when_it_is_proposed(
        string operation,
        InputErrorCode code,
        string named
    )
    {
        foreach (bool isBare in (bool[])[true, false])
        {
            Assert.False(
                TryParse($$"""[{"op":"test","path":"/z","value":1},{{operation}}]""", isBare, out _, out var error)
            );
            Assert.Equal(code, error.Code);
            Assert.Contains(named, error.What, StringComparison.Ordinal);
            if (code is InputErrorCode.InvalidPatch or InputErrorCode.NotSupported)
            {
                Assert.Contains("Operations[1]", error.What, StringComparison.Ordinal);
            }
        }
    }

    [Theory]
    [InlineData("\"JsonPatch\":{\"Operations\":[]},\"Type\":\"PATCH\"", "'JsonPatch' of a PATCH")]
    [InlineData("\"JsonPatch\":{\"Operations\":[]},\"Type\":\"DELETE\"", "'JsonPatch' of a DELETE")]
    [InlineData("\"Patch\":{\"Script\":\"this.a = 1\"},\"Type\":\"JsonPatch\"", "'Patch' of a JsonPatch")]
    [InlineData("\"JsonPatch\":{\"Operations\":[],\"X\":1},\"Type\":\"JsonPatch\"", "'X' of a JSON Patch")]
    [InlineData("\"JsonPatch\":{},\"Type\":\"JsonPatch\"", "no Operations")]
    [InlineData("\"Type\":\"JsonPatch\"", "The command has no JsonPatch")]
    public void A_command_with_the_patch_of_another_type_is_refused(string members, string named)
    {
        Assert.False(
            TryParseBatch($$"""{"Commands":[{"Id":"a",{{members}}}]}""", FormatLevel.JsonPatches, out _, out var error)
        );
        Assert.Contains(named, error.What, StringComparison.Ordinal);
    }

    [Fact]
    public void Below_its_format_level_a_json_patch_is_refused()
    {
        const string Command = """{"Commands":[{"Id":"a","JsonPatch":{"Operations":[]},"Type":"JsonPatch"}]}""";
        Assert.False(TryParseBatch(Command, FormatLevel.JsonPatches - 1, out _, out var error));
        Assert.Equal(InputErrorKind.NotSupported, error.Kind);
        Assert.Contains("finalize-upgrade", error.Advice, StringComparison.Ordinal);
        Assert.True(TryParseBatch(Command, FormatLevel.JsonPatches, out var batch, out _));
        batch.Command.Dispose();
    }

    [Fact]
    public void Copies_cannot_make_a_document_too_deep_or_too_long()
    {
        using var evaluator = new PatchEvaluator();
        // Each copy of the document into itself adds a level.
        string nesting = string.Join(',', Enumerable.Repeat("""{"op":"copy","from":"","path":"/a"}""", 129));
        Assert.Equal(PatchStatus.Failed, Run(evaluator, $"[{nesting}]", "{}", out _));
        Assert.Contains("128 levels", evaluator.Failure, StringComparison.Ordinal);
        // Each copy doubles the size of the document.
        string longer = string.Join(',', Enumerable.Repeat("""{"op":"copy","from":"","path":"/-"}""", 2));
        Assert.Equal(
            PatchStatus.Failed,
            Run(evaluator, $"[{longer}]", $$"""{"x":"{{new string('x', 3 << 20)}}"}""", out _)
        );
        Assert.Contains("larger", evaluator.Failure, StringComparison.Ordinal);
    }

    [Fact]
    public void Random_patches_have_the_result_that_the_RFC_defines() =>
        Gen.Select(RandomJson.Value(depth: 3), Gen.Int[0, int.MaxValue])
            .CheckEach(
                3000,
                static one =>
                {
                    var (value, seed) = one;
                    var random = new Random(seed);
                    // One to five operations, applied by the test's own implementation of the RFC and by the product.
                    var root = new JsonObject { ["r"] = JsonNode.Parse(value), ["a/~"] = new JsonArray(1, "x", null) };
                    string body = root.ToJsonString();
                    var operations = new JsonArray();
                    for (int i = random.Next(5); i >= 0; i--)
                    {
                        operations.Add(JsonPatchDefinition.RandomOperation(random, root));
                    }

                    string? expected = JsonPatchDefinition.Apply(JsonNode.Parse(body)!, operations)?.ToJsonString();
                    using var evaluator = new PatchEvaluator();
                    if (!TryParse(operations.ToJsonString(), isBare: true, out var batch, out _))
                    {
                        Assert.Null(expected);
                        return;
                    }

                    using var command = batch.Command;
                    var stored = new DocumentView(StoredDocumentTests.Store(body, "x"));
                    var status = evaluator.Apply(ProgramOf(command), stored);
                    string? actual =
                        status == PatchStatus.Failed
                            ? null
                            : $"{{{Text(new DocumentView([.. WriteHead(), .. evaluator.Content]).Body)}}}";
                    Assert.True(
                        expected is null
                            ? actual is null
                            : actual is not null
                                && JsonElement.DeepEquals(JsonElement.Parse(expected), JsonElement.Parse(actual)),
                        $"{body} {operations.ToJsonString()}: {expected} expected, {actual} ({evaluator.Failure}) found"
                    );
                }
            );

    [Fact]
    public void A_failed_operation_changes_nothing_of_its_batch_and_replay_gives_the_same_documents()
    {
        var disk = new SimulatedDisk("/data");
        string before;
        using (var node = SteppedNode.Open(disk, SteppedNode.Options("/data")))
        {
            node.CreateDatabase("db");
            node.Put("db", "a", """{"n":1,"tags":["x","y"],"@metadata":{"@collection":"Users","k":1}}""");
            Assert.Null(node.Propose(EncodeBatch(node, """[{"op":"add","path":"/tags/-","value":"z"}]""")).Rejection);
            before = node.Documents("db")["a"];
            Assert.Contains(
                """
                "tags":["x","y","z"]
                """,
                before,
                StringComparison.Ordinal
            );
            var failed = node.Propose(
                EncodeBatch(node, """[{"op":"remove","path":"/n"},{"op":"remove","path":"/tags/10"}]""")
            );
            Assert.Equal(RejectionKind.Invalid, failed.Rejection?.Kind);
            Assert.Contains("Operations[1]", failed.Rejection?.Message, StringComparison.Ordinal);
            Assert.Contains("out of array bounds", failed.Rejection?.Message, StringComparison.Ordinal);
            var missing = node.Propose(EncodeBatch(node, """[{"op":"add","path":"/n","value":1}]""", "none"));
            Assert.Contains(
                "Cannot apply json patch because the document none does not exist",
                missing.Rejection?.Message,
                StringComparison.Ordinal
            );
            Assert.Equal(before, node.Documents("db")["a"]);
        }

        using var again = SteppedNode.Open(disk, SteppedNode.Options("/data"));
        Assert.Equal(before, again.Documents("db")["a"]);
    }

    [Fact]
    public void A_command_whose_patches_read_too_much_is_refused()
    {
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), SteppedNode.Options("/data"));
        node.CreateDatabase("db");
        node.Put("db", "a", $$"""{"s":"{{new string('x', 1 << 20)}}","n":1}""");
        // To find the member n, each operation reads the 1 MiB before it.
        string tests = string.Join(',', Enumerable.Repeat("""{"op":"test","path":"/n","value":1}""", 200));
        Assert.Equal(RejectionKind.TooLarge, node.Propose(EncodeBatch(node, $"[{tests}]")).Rejection?.Kind);
        Assert.Null(node.Propose(EncodeBatch(node, """[{"op":"test","path":"/n","value":1}]""")).Rejection);
    }

    /// <summary>
    /// A test operation reads the value in the document and its own value, also where they are nested.
    /// </summary>
    [Fact]
    public void A_command_whose_test_operations_compare_too_much_is_refused()
    {
        using var node = SteppedNode.Open(new SimulatedDisk("/data"), SteppedNode.Options("/data"));
        node.CreateDatabase("db");
        string numbers = string.Join(',', Enumerable.Repeat("1", 1 << 20));
        string value = new string('[', 100) + numbers + new string(']', 100);
        node.Put("db", "a", $$"""{"l":{{value}}}""");
        string test = $$"""{"op":"test","path":"/l","value":{{value.Replace("1", "1.0", StringComparison.Ordinal)}}}""";
        Assert.Null(node.Propose(EncodeBatch(node, $"[{test}]")).Rejection);
        Assert.Equal(
            RejectionKind.TooLarge,
            node.Propose(EncodeBatch(node, $"[{string.Join(',', Enumerable.Repeat(test, 7))}]")).Rejection?.Kind
        );
    }

    /// <summary>Returns the head of a stored document.</summary>
    private static byte[] WriteHead()
    {
        byte[] head = new byte[StoredDocument.MaxHeadBytes];
        return head[..StoredDocument.WriteHead(head, "x"u8, 1, 0)];
    }

    /// <summary>Applies operations to a document's body.</summary>
    /// <param name="evaluator">Applies them.</param>
    /// <param name="operations">The operations, as JSON.</param>
    /// <param name="body">The body before.</param>
    /// <param name="patched">The body after; empty if an operation failed.</param>
    private static PatchStatus Run(PatchEvaluator evaluator, string operations, string body, out string patched)
    {
        Assert.True(TryParse(operations, isBare: true, out var batch, out var error), error.ToString());
        using var command = batch.Command;
        var status = evaluator.Apply(ProgramOf(command), new DocumentView(StoredDocumentTests.Store(body, "x")));
        patched =
            status == PatchStatus.Failed
                ? ""
                : $"{{{Text(new DocumentView([.. WriteHead(), .. evaluator.Content]).Body)}}}";
        return status;
    }

    /// <summary>Encodes a batch that stores the document 'new' and patches another.</summary>
    private static CommandBuffer EncodeBatch(SteppedNode node, string operations, string id = "a")
    {
        string body = $$"""
            {"Commands":[{"Id":"new","Document":{},"Type":"PUT"},
            {"Id":"{{id}}","ChangeVector":null,"JsonPatch":{"Operations":{{operations}}},"ReturnDocument":true,"Type":"JsonPatch"}]}
            """;
        Assert.True(
            BatchRequestParser.TryParse(
                Bytes(body),
                node.Database("db").Number,
                key: default,
                maxBatchBytes: 32 << 20,
                out var batch,
                out var error,
                node.Core.FormatLevel.Level
            ),
            error.ToString()
        );
        return batch.Command;
    }

    private static bool TryParseBatch(string body, int level, out ParsedBatch batch, out InputError error) =>
        BatchRequestParser.TryParse(
            Bytes(body),
            database: 1,
            key: default,
            maxBatchBytes: 1 << 20,
            out batch,
            out error,
            level
        );

    /// <summary>Encodes a patch of one document. Returns whether it was accepted.</summary>
    /// <param name="operations">The operations, as JSON.</param>
    /// <param name="isBare">Whether the body is only the array of operations, as in the RFC, and not an object with the
    /// member Operations, as in RavenDB.</param>
    /// <param name="batch">The encoded command.</param>
    /// <param name="error">Why it was refused.</param>
    private static bool TryParse(string operations, bool isBare, out ParsedBatch batch, out InputError error) =>
        BatchRequestParser.TryParsePatch(
            Bytes(isBare ? operations : $$"""{"Operations":{{operations}}}"""),
            "x"u8,
            expected: default,
            skipOnMismatch: false,
            database: 1,
            key: default,
            out batch,
            out error,
            FormatLevel.JsonPatches,
            isBare ? PatchForm.JsonPatch : PatchForm.JsonPatchEnvelope
        );

    private static PatchProgram ProgramOf(CommandBuffer command)
    {
        var reader = new CommandReader(command.Written.Span);
        Assert.True(reader.TryReadOperation(out var operation));
        return operation.Patch;
    }
}
