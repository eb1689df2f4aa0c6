using Rookery.Documents.Commands;
using Rookery.Documents.Nodes;
using Rookery.Json;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Commands;

/// <summary>Bodies of bulk_docs, which are encoded into one command.</summary>
public class BatchRequestParserTests
{
    private const int GuidLength = 36;

    [Fact]
    public void Commands_keep_their_order_and_expectations()
    {
        ParsedBatch batch = Parse(
            """
            {"Commands":[
              {"Id":"users/1","ChangeVector":null,"OriginalChangeVector":"A:3-x","Document":{"a":1,"@metadata":{"@collection":"Users"}},"Type":"PUT"},
              {"Type":"PUT","Document":{},"ChangeVector":"","Id":null,"Unknown":null},
              {"Id":"users/2","ChangeVector":"A:2-\u0078","Type":"DELETE"},
              {"Id":"users/3","Type":"PATCH","Patch":{"Script":"this.a = args.v","Values":{"v":1}},"ReturnDocument":true,"CreateIfMissing":{"a":0}}
            ],"TransactionMode":"SingleNode"}
            """
        );
        using CommandBuffer command = batch.Command;
        Assert.Equal(4, batch.Count);
        var reader = new CommandReader(command.Written.Span);
        var read = new List<string>();
        while (reader.TryReadOperation(out Operation operation))
        {
            read.Add(
                $"{operation.Kind} "
                    + $"{(operation.Id.Written.Length == GuidLength ? "guid" : Text(operation.Id.Written))} "
                    + $"{operation.Expected.Expectation} {Text(operation.Expected.Text)} "
                    + $"{operation.Patch.ReturnsDocument}"
            );
        }

        Assert.Equal(
            [
                "Put users/1 Anything  False",
                "Put guid MustNotExist  False",
                "Delete users/2 MustEqual A:2-x False",
                "Patch users/3 Anything  True",
            ],
            read
        );
        Assert.Equal(4, reader.OperationCount);
    }

    [Theory]
    [InlineData("""{"Id":"a","Type":"Counters","Counters":{}}""", InputErrorCode.NotSupported, "counters")]
    [InlineData("""{"Id":"a","Type":"TimeSeries","TimeSeries":{}}""", InputErrorCode.NotSupported, "time series")]
    [InlineData("""{"Id":"a","Type":"AttachmentPUT"}""", InputErrorCode.NotSupported, "attachments")]
    [InlineData(
        """{"Id":"a","Type":"CompareExchangePUT","Document":{"Object":1}}""",
        InputErrorCode.NotSupported,
        "compare-exchange"
    )]
    [InlineData("""{"Ids":[],"Type":"BatchPATCH"}""", InputErrorCode.MissingMember, "no Patch")]
    [InlineData(
        """{"Ids":[],"Type":"BatchPATCH","Patch":{"Script":"this.a = args.a","Values":{"a":1}}}""",
        InputErrorCode.MissingMember,
        "no Ids"
    )]
    [InlineData("""{"Ids":[{"Id":"a","x":1}],"Type":"BatchPATCH"}""", InputErrorCode.NotSupported, "'x' of Ids")]
    [InlineData("""{"Ids":[{"Id":"a"}],"Id":"b","Type":"BatchPATCH"}""", InputErrorCode.NotSupported, "'Id'")]
    [InlineData("""{"Ids":[{"Id":"a"}],"Id":"b","Type":"DELETE"}""", InputErrorCode.NotSupported, "'Ids'")]
    [InlineData("""{"Id":"a","Type":"Dance"}""", InputErrorCode.NotSupported, "Dance")]
    [InlineData("""{"Id":"a","Type":"DELETE","IdPrefixed":true}""", InputErrorCode.NotSupported, "IdPrefixed")]
    [InlineData(
        """{"Id":"a","Type":"PATCH","Patch":{"Script":"if (this.a) { this.b = 1 }"}}""",
        InputErrorCode.NotSupported,
        "if (this.a)"
    )]
    [InlineData(
        """{"Id":"a","Document":{},"Type":"PUT","Unknown":[{"x":1}]}""",
        InputErrorCode.NotSupported,
        "'Unknown' of a PUT"
    )]
    [InlineData(
        """{"Id":"a","Document":{},"Type":"PUT","Patch":{"Script":"this.a = args.v","Values":{"v":1}}}""",
        InputErrorCode.NotSupported,
        "'Patch' of a PUT"
    )]
    [InlineData(
        """{"Id":"a","Document":{},"Type":"PUT","ReturnDocument":true}""",
        InputErrorCode.NotSupported,
        "'ReturnDocument' of a PUT"
    )]
    [InlineData("""{"Id":"a","Document":{},"Type":"DELETE"}""", InputErrorCode.NotSupported, "'Document' of a DELETE")]
    [InlineData(
        """{"Id":"a","Document":{},"Type":"PUT","IdPrefixed":true}""",
        InputErrorCode.NotSupported,
        "'IdPrefixed' of a PUT"
    )]
    [InlineData(
        """{"Id":"a","IdPrefixed":true,"Type":"PATCH","Patch":{"Script":"this.a = args.v","Values":{"v":1}}}""",
        InputErrorCode.NotSupported,
        "'IdPrefixed' of a PATCH"
    )]
    [InlineData(
        """{"Id":"a","Document":{},"Type":"PUT","PatchIfMissing":{"Script":"this.a = args.v","Values":{"v":1}}}""",
        InputErrorCode.NotSupported,
        "'PatchIfMissing' of a PUT"
    )]
    [InlineData(
        """{"Id":"a","Type":"PATCH","Patch":{"Script":""},"PatchIfMissing":{"Script":""},"CreateIfMissing":{}}""",
        InputErrorCode.NotSupported,
        "'PatchIfMissing' of a PATCH command with CreateIfMissing"
    )]
    [InlineData(
        """{"Id":"a","Type":"PATCH","Patch":{"Script":"this.a = 1","Args":{}}}""",
        InputErrorCode.NotSupported,
        "'Args' of a patch"
    )]
    [InlineData(
        """{"Id":"a","Type":"PATCH","Patch":{"Script":"this.a = args.v","Values":{"v":1}},"ReturnDocument":"yes"}""",
        InputErrorCode.WrongType,
        "ReturnDocument"
    )]
    [InlineData("""{"Id":"a","Type":"PUT"}""", InputErrorCode.MissingMember, "Document")]
    [InlineData("""{"Id":"a","Type":"PATCH"}""", InputErrorCode.MissingMember, "Patch")]
    [InlineData("""{"Id":"a","Document":{}}""", InputErrorCode.MissingMember, "Type")]
    [InlineData("""{"Id":"","Type":"DELETE"}""", InputErrorCode.InvalidId, "empty")]
    [InlineData("""{"Id":"a\n","Type":"PUT","Document":{}}""", InputErrorCode.InvalidId, "control")]
    [InlineData("""{"Id":"a","Type":"PUT","Document":5}""", InputErrorCode.NotAnObject, "object")]
    [InlineData(
        """{"Id":"a","Type":"PUT","Document":{"@metadata":{"@expires":1}}}""",
        InputErrorCode.WrongType,
        "@expires"
    )]
    [InlineData(
        """{"Id":"a","Type":"PATCH","Patch":{"Script":"this.a = args.v","Values":{"v":1}},"CreateIfMissing":[]}""",
        InputErrorCode.NotAnObject,
        "object"
    )]
    public void An_invalid_command_refuses_the_batch_and_is_named_by_number(
        string second,
        InputErrorCode code,
        string named
    )
    {
        // The numbers begin with 0.
        InputError error = Refuse($$"""{"Commands":[{"Id":"x","Type":"DELETE"},{{second}}]}""");
        Assert.Equal((code, 1L), (error.Code, error.Where.Element));
        Assert.Contains(named, error.What, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData("""{"Commands":[{"Id":"a","Type":"DELETE","$":1}]}""")]
    [InlineData("""{"Commands":[{"Id":"a","Type":"$"}]}""")]
    [InlineData("""{"Commands":[{"Id":"a","Type":"PUT","Document":{"$":1,"$":2}}]}""")]
    [InlineData("""{"Commands":[],"TransactionMode":"$"}""")]
    [InlineData("""{"Commands":[{"Id":"a","Type":"$"}],"TransactionMode":"ClusterWide"}""")]
    [InlineData("""{"Commands":[{"Id":"a","$":1}],"TransactionMode":"ClusterWide"}""")]
    public void A_long_text_in_a_refusal_ends_after_a_whole_character(string body)
    {
        // A face has four bytes, so all four lengths before them end the text at each place in one.
        for (int shift = 0; shift < 4; shift++)
        {
            string text = new string('x', shift) + string.Concat(Enumerable.Repeat("😀", 40));
            string refusal = Refuse(body.Replace("$", text, StringComparison.Ordinal)).What;
            Assert.Contains("😀…", refusal, StringComparison.Ordinal);
            Assert.DoesNotContain("\uFFFD", refusal, StringComparison.Ordinal);
        }
    }

    [Theory]
    [InlineData(
        """{"Id":"a","Type":"PUT","Document":{},"PatchIfMissing":{"Script":"this.a = 1"}}""",
        InputErrorCode.NotSupported,
        "'PatchIfMissing'"
    )]
    [InlineData(
        """{"Id":"a","Type":"DELETE","PatchIfMissing":{"Script":"this.a = 1"}}""",
        InputErrorCode.NotSupported,
        "'PatchIfMissing'"
    )]
    [InlineData(
        """{"Id":"a","Type":"JsonPatch","JsonPatch":{"Operations":[]},"PatchIfMissing":{"Script":"this.a = 1"}}""",
        InputErrorCode.NotSupported,
        "'PatchIfMissing'"
    )]
    [InlineData(
        """{"Id":"a","Type":"PUT","Document":{},"IdPrefixed":true}""",
        InputErrorCode.NotSupported,
        "'IdPrefixed'"
    )]
    [InlineData(
        """{"Id":"a","Type":"Counters","Counters":{"Operations":[{"Type":"Get","CounterName":"c","DocumentId":"b"}]}}""",
        InputErrorCode.InvalidId,
        "DocumentId"
    )]
    public void A_member_that_a_command_cannot_obey_is_refused(string command, InputErrorCode code, string named)
    {
        InputError error = Refuse($$"""{"Commands":[{{command}}]}""", formatLevel: FormatLevel.Newest);
        Assert.Equal(code, error.Code);
        Assert.Contains(named, error.What, StringComparison.Ordinal);
    }

    [Fact]
    public void A_batch_is_bounded_by_its_encoded_size_and_its_number_of_commands()
    {
        // Each of the 100 lines of a script has its own copy of the 2,000 bytes in the encoded command.
        const int Limit = 256 << 10;
        string patch =
            $$"""{"Id":"a","Type":"PATCH","Patch":{"Script":"{{string.Concat(Enumerable.Repeat("this.a=$v;", 100))}}","Values":{"v":"{{new string('x', 2000)}}"} } }""";
        InputError error = Refuse($$"""{"Commands":[{{patch}},{{patch}}]}""", Limit);
        Assert.Equal((InputErrorCode.BatchTooLarge, InputErrorKind.TooLarge), (error.Code, error.Kind));
        string deletes = string.Join(',', Enumerable.Repeat("""{"Id":"a","Type":"DELETE"}""", 1025));
        error = Refuse($$"""{"Commands":[{{deletes}}]}""", Limit);
        Assert.Equal(InputErrorCode.BatchTooLarge, error.Code);
        Assert.Contains("1024", error.What, StringComparison.Ordinal);
    }

    [Fact]
    public void A_deeply_nested_body_is_refused_without_memory_per_level()
    {
        // The last byte is invalid. To find it, the parser must skip four million levels.
        byte[] body = new byte[4 << 20];
        body.AsSpan().Fill((byte)'[');
        body[^1] = 0xFF;
        long before = GC.GetAllocatedBytesForCurrentThread();
        Assert.False(
            BatchRequestParser.TryParse(body, database: 1, key: default, 8 << 20, out _, out InputError error)
        );
        Assert.Equal(InputErrorCode.InvalidUtf8, error.Code);
        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, 1 << 20);
    }

    [Theory]
    [InlineData("""{}""", InputErrorCode.MissingMember)]
    [InlineData("""{"Commands":5}""", InputErrorCode.ArrayRequired)]
    [InlineData("""{"Commands":null}""", InputErrorCode.ArrayRequired)]
    [InlineData("""{"Commands":nul}""", InputErrorCode.UnexpectedCharacter)]
    [InlineData("""{"Commands":[true]}""", InputErrorCode.ObjectRequired)]
    [InlineData("""{"Commands":[{"Id":-1}]}""", InputErrorCode.StringRequired)]
    [InlineData("""{1:[]}""", InputErrorCode.UnexpectedCharacter)]
    [InlineData("""{"Commands":[]} x""", InputErrorCode.TrailingData)]
    [InlineData("""{"Commands":[],"TransactionMode":"Odd"}""", InputErrorCode.NotSupported)]
    [InlineData("""{"Commands":[],"TransactionMode":"Other"}""", InputErrorCode.NotSupported)]
    [InlineData("""{"Commands":[],"Unknown":1}""", InputErrorCode.NotSupported)]
    [InlineData("""[]""", InputErrorCode.ObjectRequired)]
    [InlineData("", InputErrorCode.UnexpectedEnd)]
    public void Invalid_bodies_are_refused(string body, InputErrorCode code) => Assert.Equal(code, Refuse(body).Code);

    [Fact]
    public void Batches_over_the_limit_are_refused()
    {
        string body = $$$"""{"Commands":[{"Id":"x","Type":"PUT","Document":{"a":"{{{new string('x', 2000)}}}"}}]}""";
        Assert.False(
            BatchRequestParser.TryParse(Bytes(body), database: 1, key: default, 1000, out _, out InputError error)
        );
        Assert.Equal((InputErrorCode.BatchTooLarge, InputErrorKind.TooLarge), (error.Code, error.Kind));
    }

    [Fact]
    public void Randomly_changed_batches_are_parsed_or_refused_with_advice()
    {
        const int Seed = 4711;
        var random = new Random(Seed);
        byte[] original = Bytes(
            """{"Commands":[{"Id":"a/","Type":"PUT","ChangeVector":"A:1","Document":{"a":1,"@metadata":{"@collection":"C"}}},{"Id":"c","Type":"PATCH","Patch":{"Script":"this.a = args.x;\nthis.l.push(args.x)\ndelete this.q.r","Values":{"x":{"y":1}}},"CreateIfMissing":{"z":1}}],"TransactionMode":null}"""
        );
        for (int round = 0; round < 20_000; round++)
        {
            byte[] body = [.. original];
            for (int change = random.Next(3); change >= 0; change--)
            {
                body[random.Next(body.Length)] =
                    random.Next(2) == 0 ? (byte)random.Next(256) : original[random.Next(original.Length)];
            }

            if (
                BatchRequestParser.TryParse(
                    body,
                    database: 1,
                    key: default,
                    1 << 20,
                    out ParsedBatch batch,
                    out InputError error
                )
            )
            {
                using CommandBuffer command = batch.Command;
                var reader = new CommandReader(command.Written.Span);
                int count = 0;
                while (reader.TryReadOperation(out _))
                {
                    count++;
                }

                Assert.True(
                    count == batch.Count,
                    $"seed {Seed}, round {round}: a batch of {batch.Count} has {count} operations"
                );
            }
            else
            {
                AssertHelpful(error);
            }
        }
    }

    private static ParsedBatch Parse(string body)
    {
        Assert.True(
            BatchRequestParser.TryParse(
                Bytes(body),
                database: 1,
                key: default,
                1 << 20,
                out ParsedBatch batch,
                out InputError error
            ),
            error.ToString()
        );
        return batch;
    }

    private static InputError Refuse(string body, int maxBatchBytes = 1 << 20, int formatLevel = FormatLevel.Oldest)
    {
        Assert.False(
            BatchRequestParser.TryParse(
                Bytes(body),
                database: 1,
                key: default,
                maxBatchBytes,
                out _,
                out InputError error,
                formatLevel
            ),
            body
        );
        AssertHelpful(error);
        return error;
    }
}
