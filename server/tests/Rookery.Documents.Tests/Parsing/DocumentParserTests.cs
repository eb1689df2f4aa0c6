using System.Text;
using System.Text.Json;
using Rookery.Documents.Parsing;
using Rookery.Json;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Parsing;

/// <summary>
/// JSON of documents: its body without metadata, the members of the metadata, and what is refused and where.
/// </summary>
public class DocumentParserTests
{
    [Theory]
    [InlineData("""{}""", "")]
    [InlineData("""{"a":1}""", "\"a\":1")]
    [InlineData("""{"@metadata":{}}""", "")]
    [InlineData("""{"@metadata":{},"a":1}""", "\"a\":1")]
    [InlineData("""{"a":1,"@metadata":{}}""", "\"a\":1")]
    [InlineData("""{"a":1,"@metadata":{},"b":2}""", "\"a\":1,\"b\":2")]
    [InlineData("""{"a":1,"\u0040metadata":{},"b":2}""", "\"a\":1,\"b\":2")]
    [InlineData(
        """ { "a" : [ 1 , { "b c" : " x\" y " } ] , "@metadata" : { } , "d" : null } """,
        "\"a\":[1,{\"b c\":\" x\\\" y \"}],\"d\":null"
    )]
    [InlineData("""{"a":{"@metadata":{"@collection":5}}}""", "\"a\":{\"@metadata\":{\"@collection\":5}}")]
    public void The_body_has_all_members_except_metadata_without_whitespace(string json, string body)
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Bytes(json), out ParsedDocument document, out InputError error), error.ToString());
        Assert.Equal(body, Body(document));
        Assert.Equal(body.Length, document.BodyLength);
    }

    [Theory]
    [InlineData("""{"@collection":"Users","Raven-Node-Type":"User"}""", "Users", "\"Raven-Node-Type\":\"User\"", "")]
    [InlineData(
        """{"@id":"users/1","@change-vector":"A:1-x","@last-modified":"d","k":[1]}""",
        "",
        "\"k\":[1]",
        "users/1"
    )]
    [InlineData(
        """{"a":1,"@id":"u","b":2,"@flags":"x","@index-score":1,"c":3,"@projection":true}""",
        "",
        "\"a\":1,\"b\":2,\"c\":3",
        "u"
    )]
    [InlineData("""{"@id":"u","@collection":"\u0055sers"}""", "Users", "", "u")]
    [InlineData("""{"@collection":null,"@id":5}""", "", "", "")]
    [InlineData("""{"@collection":"@empty"}""", "", "", "")]
    [InlineData(""" { "a" : 1 , "@id" : 2 , "b" : "x y" } """, "", "\"a\":1,\"b\":\"x y\"", "")]
    [InlineData(
        """{"@refresh":"x","@nested-object-types":{"d":"date"}}""",
        "",
        "\"@refresh\":\"x\",\"@nested-object-types\":{\"d\":\"date\"}",
        ""
    )]
    public void Metadata_keeps_the_members_that_the_server_does_not_define(
        string metadata,
        string collection,
        string members,
        string id
    )
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(
            parser.TryParse(
                Bytes($"{{\"x\":1,\"@metadata\":{metadata}}}"),
                out ParsedDocument document,
                out InputError error
            ),
            error.ToString()
        );
        Assert.Equal(collection, Text(document.Collection));
        Assert.Equal(members, Text(document.Metadata));
        Assert.Equal(id, Text(document.MetadataId));
    }

    [Theory]
    [InlineData("2026-11-21T09:49:45.2120000Z", "2026-11-21T09:49:45.2120000")]
    [InlineData("2026-11-21T09:49:45.2120000", "2026-11-21T09:49:45.2120000")]
    [InlineData("2026-11-21T11:49:45+02:00", "2026-11-21T09:49:45.0000000")]
    public void Expiry_is_read_in_all_date_forms_and_kept(string written, string utc)
    {
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(
            parser.TryParse(
                Bytes($"{{\"@metadata\":{{\"@expires\":\"{written}\"}}}}"),
                out ParsedDocument document,
                out _
            )
        );
        Assert.Equal(
            DateTime.Parse(utc, System.Globalization.CultureInfo.InvariantCulture).Ticks,
            document.ExpiresAtTicks
        );
        Assert.Equal($"\"@expires\":\"{written}\"", Text(document.Metadata));
    }

    // The JSON, the error, and the offset of the byte that it names.
    [Theory]
    [InlineData("""{"a":1,"a":2}""", InputErrorCode.DuplicateKey, 7)]
    [InlineData("""{"a":1,"\u0061":2}""", InputErrorCode.DuplicateKey, 7)]
    [InlineData("""{"x":{"é":1,"\u00e9":2}}""", InputErrorCode.DuplicateKey, 13)]
    [InlineData("""{"@metadata":{},"@metadata":{}}""", InputErrorCode.DuplicateKey, 16)]
    [InlineData("""{"@metadata":{"@id":1,"@id":2}}""", InputErrorCode.DuplicateKey, 22)]
    [InlineData("""{"a":"\ud800"}""", InputErrorCode.LoneSurrogate, 6)]
    [InlineData("""{"a":"\ud800\n"}""", InputErrorCode.LoneSurrogate, 6)]
    [InlineData("""{"a":"\udc00\ud800"}""", InputErrorCode.LoneSurrogate, 6)]
    [InlineData("""{"\ud800\ud800":1}""", InputErrorCode.LoneSurrogate, 2)]
    [InlineData("""{"a":"\u12g4"}""", InputErrorCode.InvalidEscape, 6)]
    [InlineData("""{"a":"\x"}""", InputErrorCode.InvalidEscape, 6)]
    [InlineData("{\"a\":\"\t\"}", InputErrorCode.ControlCharacterInString, 6)]
    [InlineData("""[]""", InputErrorCode.NotAnObject, 0)]
    [InlineData("""5""", InputErrorCode.NotAnObject, 0)]
    [InlineData("", InputErrorCode.UnexpectedEnd, 0)]
    [InlineData("""{"a":1""", InputErrorCode.UnexpectedEnd, 6)]
    [InlineData("""{"a":tr""", InputErrorCode.UnexpectedEnd, 7)]
    [InlineData("""{"a":"\u00""", InputErrorCode.UnexpectedEnd, 10)]
    [InlineData("""{"a":1.""", InputErrorCode.UnexpectedEnd, 7)]
    [InlineData("""{} {}""", InputErrorCode.TrailingData, 3)]
    [InlineData("""{"a":01}""", InputErrorCode.InvalidNumber, 5)]
    [InlineData("""{"a":1.}""", InputErrorCode.InvalidNumber, 5)]
    [InlineData("""{"a":-}""", InputErrorCode.InvalidNumber, 5)]
    [InlineData("""{"a":1e}""", InputErrorCode.InvalidNumber, 5)]
    [InlineData("""{"a":+1}""", InputErrorCode.UnexpectedCharacter, 5)]
    [InlineData("""{"a":NaN}""", InputErrorCode.UnexpectedCharacter, 5)]
    [InlineData("""{"a":nul}""", InputErrorCode.UnexpectedCharacter, 8)]
    [InlineData("""{"a":1,}""", InputErrorCode.UnexpectedCharacter, 7)]
    [InlineData("""{,"a":1}""", InputErrorCode.UnexpectedCharacter, 1)]
    [InlineData("""{"a":[1,]}""", InputErrorCode.UnexpectedCharacter, 8)]
    [InlineData("""{"a":[1}}""", InputErrorCode.UnexpectedCharacter, 7)]
    [InlineData("""{"a" 1}""", InputErrorCode.UnexpectedCharacter, 5)]
    [InlineData("""{'a':1}""", InputErrorCode.UnexpectedCharacter, 1)]
    [InlineData("""{"a":1 /* c */}""", InputErrorCode.UnexpectedCharacter, 7)]
    [InlineData("""{"@metadata":[]}""", InputErrorCode.WrongType, 13)]
    [InlineData("""{"@metadata":{"@collection":5}}""", InputErrorCode.WrongType, 28)]
    [InlineData("""{"@metadata":{"@expires":5}}""", InputErrorCode.WrongType, 25)]
    [InlineData("""{"@metadata":{"@expires":"2026-02-30T00:00:00Z"}}""", InputErrorCode.InvalidDate, 25)]
    [InlineData("""{"@metadata":{"@expires":"0001-01-01T00:00:00Z"}}""", InputErrorCode.InvalidDate, 25)]
    [InlineData("""{"@metadata":{"@collection":"a\u0000"}}""", InputErrorCode.InvalidCollection, 28)]
    public void Invalid_documents_are_refused_with_the_position(string json, InputErrorCode code, long offset)
    {
        InputError error = Refusal(Bytes(json));
        Assert.Equal((code, offset), (error.Code, error.Where.ByteOffset));
    }

    [Fact]
    public void A_refusal_names_line_and_path()
    {
        InputError error = Refusal(Bytes("{\n \"lines\": [1,\n {\"a b\": {\"c\": tru}}]}"));
        Assert.Equal("$.lines[1].a b.c", error.Where.Path);
        Assert.Equal(3, error.Where.Line);
    }

    // A continuation without a start, an overlong form, a surrogate, beyond U+10FFFF, and a truncated character.
    [Theory]
    [InlineData(new byte[] { 0x80 })]
    [InlineData(new byte[] { 0xC0, 0x80 })]
    [InlineData(new byte[] { 0xED, 0xA0, 0x80 })]
    [InlineData(new byte[] { 0xF5, 0x80, 0x80, 0x80 })]
    [InlineData(new byte[] { 0xE2, 0x82 })]
    public void Invalid_utf8_is_refused_in_names_and_values(byte[] bad)
    {
        InputError inValue = Refusal([.. "{\"a\":\""u8, .. bad, .. "\"}"u8]);
        InputError inName = Refusal([.. "{\""u8, .. bad, .. "\":1}"u8]);
        Assert.Equal((InputErrorCode.InvalidUtf8, 6L), (inValue.Code, inValue.Where.ByteOffset));
        Assert.Equal((InputErrorCode.InvalidUtf8, 2L), (inName.Code, inName.Where.ByteOffset));
    }

    [Fact]
    public void Documents_nest_at_most_128_levels()
    {
        static byte[] Nested(int levels, string open, string close) =>
            Bytes(
                "{\"a\":"
                    + string.Concat(Enumerable.Repeat(open, levels - 1))
                    + "1"
                    + string.Concat(Enumerable.Repeat(close, levels - 1))
                    + "}"
            );

        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(Nested(128, "[", "]"), out _, out _));
        Assert.True(parser.TryParse(Nested(128, "{\"a\":", "}"), out _, out _));
        Assert.Equal(InputErrorCode.TooDeep, Refusal(Nested(129, "[", "]")).Code);
        Assert.Equal(InputErrorCode.TooDeep, Refusal(Nested(129, "{\"a\":", "}")).Code);
        Assert.Equal(
            InputErrorCode.TooDeep,
            Refusal(Bytes("{\"@metadata\":{\"a\":" + new string('[', 127) + new string(']', 127) + "}}")).Code
        );
    }

    [Fact]
    public void Documents_have_at_most_8_MiB()
    {
        byte[] json = Bytes("{\"a\":\"" + new string('x', DocumentLimits.MaxDocumentBytes - 8) + "\"}");
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(json, out _, out _));
        Assert.Equal(InputErrorCode.DocumentTooLarge, Refusal([.. json, (byte)' ']).Code);
    }

    [Fact]
    public void Duplicates_are_found_in_large_and_nested_objects()
    {
        // Both objects have too many keys for the linear search. Inner objects are opened and closed while the outer
        // one grows.
        var json = new StringBuilder("{");
        for (int key = 0; key < 5000; key++)
        {
            json.Append(
                key % 50 == 0
                    ? $"\"k{key}\":{{{string.Join(',', Enumerable.Range(0, 100).Select(inner => $"\"k{inner}\":1"))}}},"
                    : $"\"k{key}\":1,"
            );
        }

        using DocumentParser parser = DocumentParser.Rent();
        string start = json.ToString();
        Assert.True(parser.TryParse(Bytes(start + "\"last\":1}"), out _, out InputError error), error.ToString());
        // Some keys of the whole range.
        for (int key = 0; key < 5000; key += 701)
        {
            Assert.Equal(InputErrorCode.DuplicateKey, Refusal(Bytes(start + $"\"k{key}\":1}}")).Code);
        }
    }

    [Fact]
    public void Parsing_small_documents_allocates_nothing()
    {
        byte[] json = Bytes(
            """{"name":"Ann","tags":["a","b"],"@metadata":{"@id":"u/1","@collection":"Users","@flags":"x","k":1}}"""
        );
        using DocumentParser parser = DocumentParser.Rent();
        Assert.True(parser.TryParse(json, out _, out _));
        long before = GC.GetAllocatedBytesForCurrentThread();
        for (int round = 0; round < 100; round++)
        {
            _ = parser.TryParse(json, out _, out _);
        }

        Assert.Equal(before, GC.GetAllocatedBytesForCurrentThread());
    }

    [Fact]
    public void The_parser_and_the_platform_agree_on_mutated_documents()
    {
        const int Seed = 20261121;
        var random = new Random(Seed);
        string[] seeds =
        [
            """{"name":"Ann","age":30,"tags":["a","bb",null],"nested":{"x":-1.5e3,"y":true},"@metadata":{"@collection":"Users","k":"v"}}""",
            """ { "a\u00e9\ud83d\ude00" : "é😀\n" , "@metadata" : { "@id" : "u/1" , "q" : [ ] } , "z" : [ { } , [ ] , 0 , 1E+2 ] } """,
            """{"@metadata":{"@expires":"2026-11-21T09:49:45.2120000Z"},"deep":[[[[{"a":{"b":{"c":[false]}}}]]]]}""",
        ];
        using DocumentParser parser = DocumentParser.Rent();
        int accepted = 0;
        for (int round = 0; round < 60_000; round++)
        {
            byte[] json = Mutate(Bytes(seeds[round % seeds.Length]), random);
            bool isAccepted = parser.TryParse(json, out ParsedDocument document, out InputError error);
            string place = $"seed {Seed}, round {round}: {Convert.ToBase64String(json)}";
            if (isAccepted)
            {
                accepted++;
                Assert.True(IsSameBody(json, Body(document)), place);
            }
            else
            {
                AssertHelpful(error);
                Assert.True(error.Where.ByteOffset <= json.Length, place);
                Assert.True(
                    error.Code
                        is not (
                            InputErrorCode.UnexpectedEnd
                            or InputErrorCode.UnexpectedCharacter
                            or InputErrorCode.InvalidNumber
                        )
                        || !IsJson(json),
                    place
                );
            }
        }

        // The mutations are neither all valid nor all invalid.
        Assert.InRange(accepted, 1000, 59_000);
    }

    private static bool IsJson(byte[] json)
    {
        try
        {
            using var _ = JsonDocument.Parse(json, new JsonDocumentOptions { MaxDepth = 200 });
            return true;
        }
        catch (JsonException)
        {
            return false;
        }
    }

    // Makes one to three changes: replaces, removes or inserts a byte, or repeats some bytes elsewhere.
    private static byte[] Mutate(byte[] json, Random random)
    {
        var bytes = new List<byte>(json);
        for (int change = random.Next(3); change >= 0; change--)
        {
            int position = random.Next(bytes.Count);
            switch (random.Next(4))
            {
                case 0:
                    bytes[position] = (byte)random.Next(256);
                    break;
                case 1:
                    bytes.RemoveAt(position);
                    break;
                case 2:
                    bytes.Insert(position, "{}[],:\"\\ 0-.eu\n"u8[random.Next(15)]);
                    break;
                default:
                    int length = Math.Min(random.Next(8), bytes.Count - position);
                    bytes.InsertRange(random.Next(bytes.Count), bytes.GetRange(position, length));
                    break;
            }
        }

        return [.. bytes];
    }
}
