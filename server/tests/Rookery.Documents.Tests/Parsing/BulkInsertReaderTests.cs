using Rookery.Documents.Parsing;
using Rookery.Json;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Parsing;

/// <summary>Streams of documents: bulk inserts, and lines of JSON, in chunks of any length.</summary>
public class BulkInsertReaderTests
{
    private const string Stream =
        """ [{"Id":"users/1","Type":"PUT","Document":{"a":"x]}","@metadata":{"@collection":"Users"}}},{"Type":"HeartBeat"} , {"Document":{"b":[1,{"c":"\\\""}]},"Type":"PUT","Id":"q\"é"},{"Id":"users/","Type":"PUT","Document":{}}]""";

    [Fact]
    public void A_stream_is_parsed_identically_for_any_chunks()
    {
        byte[] stream = Bytes(Stream);
        string[] whole = ReadAll([stream]);
        Assert.Equal(["users/1 \"a\":\"x]}\" Users", "q\"é \"b\":[1,{\"c\":\"\\\\\\\"\"}] ", "users/  ", "End"], whole);
        for (int cut = 0; cut <= stream.Length; cut++)
        {
            Assert.Equal(whole, ReadAll([stream[..cut], stream[cut..]]));
        }

        Assert.Equal(whole, ReadAll(stream.Select(value => new[] { value })));
    }

    [Fact]
    public void The_closing_bracket_ends_the_stream_whatever_follows()
    {
        Assert.Equal(["End"], ReadAll([Bytes("[]garbage")]));
        Assert.Equal(["End"], ReadAll([Bytes(" [ "), Bytes(" ] ")]));
    }

    [Fact]
    public void A_large_document_in_small_chunks_is_parsed_once()
    {
        // 4 MiB in chunks of 700 bytes. Parsing again for each chunk would read 12 GB.
        string document = $$"""{"a":"{{new string('x', 4 << 20)}}"}""";
        byte[] stream = Bytes("[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":" + document + "}]");
        Assert.Equal(["a " + document[1..^1] + " ", "End"], ReadAll(stream.Chunk(700)));
    }

    [Theory]
    [InlineData("""[{"Id":"a","Type":"Counters","Counters":{}}]""", InputErrorCode.NotSupported, "counters")]
    [InlineData(
        """[{"Id":"a","Type":"TimeSeriesBulkInsert","TimeSeries":{}}]""",
        InputErrorCode.NotSupported,
        "time series"
    )]
    [InlineData(
        """[{"Id":"a","Type":"AttachmentPUT","Name":"n","ContentLength":3}abc]""",
        InputErrorCode.NotSupported,
        "attachments"
    )]
    [InlineData("""[{"Id":"a","Type":"PUT"}]""", InputErrorCode.MissingMember, "Document")]
    [InlineData("""[{"Id":"a","Document":{}}]""", InputErrorCode.MissingMember, "Type")]
    [InlineData("""[{"Id":"a","Type":"PUT","Document":[]}]""", InputErrorCode.NotAnObject, "object")]
    [InlineData("""[{"Id":"a","Type":"PUT","Document":{"x":1,"x":2}}]""", InputErrorCode.DuplicateKey, "x")]
    [InlineData("""[{"Id":"a\u0001","Type":"PUT","Document":{}}]""", InputErrorCode.InvalidId, "control")]
    [InlineData("""{"Id":"a"}""", InputErrorCode.ArrayRequired, "An object is where an array must be")]
    [InlineData("""[5]""", InputErrorCode.ObjectRequired, "A number is where an object must be")]
    [InlineData("""[{"Type":"HeartBeat"}{}]""", InputErrorCode.UnexpectedCharacter, "'{'")]
    [InlineData("""[{"Type":"HeartBeat","Document":{}}]""", InputErrorCode.NotSupported, "'Document' of a HeartBeat")]
    [InlineData("""[{"Id":"a","Type":"HeartBeat"}]""", InputErrorCode.NotSupported, "'Id' of a HeartBeat")]
    public void An_invalid_element_fails_the_stream_and_is_named(string stream, InputErrorCode code, string named)
    {
        foreach (byte[][] chunks in new[] { [Bytes(stream)], Bytes(stream).Select(value => new[] { value }).ToArray() })
        {
            using var reader = new BulkInsertReader();
            InputError error = ReadToError(reader, chunks);
            Assert.Equal(code, error.Code);
            Assert.Contains(named, error.What, StringComparison.Ordinal);
            Assert.Equal(StreamRead.Error, reader.Read(out _, out _, out InputError again));
            Assert.Equal(error, again);
        }
    }

    [Fact]
    public void An_error_has_the_elements_number_and_its_offset_in_the_stream()
    {
        byte[] stream = Bytes(
            """[{"Id":"a","Type":"PUT","Document":{}},{"Id":"b","Type":"PUT","Document":{"x":tru}}]"""
        );
        for (int cut = 0; cut <= stream.Length; cut++)
        {
            using var reader = new BulkInsertReader();
            InputError error = ReadToError(reader, [stream[..cut], stream[cut..]]);
            // Elements are counted from 0; byte 81 is the first after "tru".
            Assert.Equal((1, 81, "$.Document.x"), (error.Where.Element, error.Where.ByteOffset, error.Where.Path));
        }
    }

    [Fact]
    public void Invalid_utf8_fails_the_stream()
    {
        byte[] stream = [.. "[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{\"x\":\""u8, 0xFF, .. "\"}}]"u8];
        using var reader = new BulkInsertReader();
        InputError error = ReadToError(reader, [stream]);
        Assert.Equal((InputErrorCode.InvalidUtf8, 41L), (error.Code, error.Where.ByteOffset));
    }

    [Fact]
    public void An_endless_document_is_refused_at_the_limit()
    {
        using var reader = new BulkInsertReader();
        // 200 chunks are 12.5 MiB; a document may have 8 MiB.
        byte[] filler = Bytes(new string('x', 64 * 1024));
        InputError error = ReadToError(
            reader,
            Enumerable.Repeat(filler, 200).Prepend(Bytes("[{\"Id\":\"a\",\"Type\":\"PUT\",\"Document\":{\"x\":\""))
        );
        Assert.Equal(InputErrorCode.DocumentTooLarge, error.Code);
    }

    [Fact]
    public void The_end_of_a_truncated_stream_is_reported_with_its_element_and_offset()
    {
        using var reader = new BulkInsertReader();
        reader.Feed(Bytes("""[{"Id":"a","Type":"PUT","Document":{}},{"Id"""));
        Assert.Equal(StreamRead.Item, reader.Read(out _, out _, out _));
        Assert.Equal(StreamRead.NeedMore, reader.Read(out _, out _, out _));
        InputError error = reader.Truncated();
        AssertHelpful(error);
        Assert.Equal((1, 43), (error.Where.Element, error.Where.ByteOffset));
    }

    [Fact]
    public void Ndjson_is_parsed_identically_for_any_chunks_and_continues_after_bad_lines()
    {
        // With a byte order mark, line ends of two kinds, and lines without a document.
        byte[] stream =
        [
            0xEF,
            0xBB,
            0xBF,
            .. Bytes("{\"a\":1,\"@metadata\":{\"@id\":\"x/1\"}}\r\n\n{\"a\":}\n  \n{\"b\":2}\n[]\n{\"c\":3}"),
        ];
        string[] whole = ReadLines([stream]);
        Assert.Equal(
            ["1 \"a\":1 x/1", "3 UnexpectedCharacter", "5 \"b\":2 ", "6 NotAnObject", "7 \"c\":3 ", "End"],
            whole
        );
        for (int cut = 0; cut <= stream.Length; cut++)
        {
            Assert.Equal(whole, ReadLines([stream[..cut], stream[cut..]]));
        }
    }

    [Fact]
    public void A_line_over_the_limit_is_one_bad_line()
    {
        // Nine times 1 MiB; a document may have 8 MiB.
        byte[] filler = Bytes(new string('x', 1 << 20));
        string[] lines = ReadLines([Bytes("{\"a\":\""), .. Enumerable.Repeat(filler, 9), Bytes("\"}\n{\"b\":2}\n")]);
        Assert.Equal(["1 DocumentTooLarge", "2 \"b\":2 ", "End"], lines);
    }

    // Each document as "id body collection", and "End" for the end of the stream.
    private static string[] ReadAll(IEnumerable<byte[]> chunks)
    {
        using var reader = new BulkInsertReader();
        var read = new List<string>();
        foreach (byte[] chunk in chunks)
        {
            reader.Feed(chunk);
            while (true)
            {
                StreamRead step = reader.Read(
                    out ReadOnlySpan<byte> id,
                    out ParsedDocument document,
                    out InputError error
                );
                Assert.False(step == StreamRead.Error, error.ToString());
                if (step == StreamRead.End)
                {
                    read.Add("End");
                    return [.. read];
                }

                if (step == StreamRead.NeedMore)
                {
                    break;
                }

                read.Add($"{Text(id)} {Body(document)} {Text(document.Collection)}");
            }
        }

        return [.. read];
    }

    private static InputError ReadToError(BulkInsertReader reader, IEnumerable<byte[]> chunks)
    {
        foreach (byte[] chunk in chunks)
        {
            reader.Feed(chunk);
            StreamRead step;
            do
            {
                step = reader.Read(out _, out _, out InputError error);
                if (step == StreamRead.Error)
                {
                    AssertHelpful(error);
                    return error;
                }
            } while (step == StreamRead.Item);
        }

        Assert.Fail("the stream was read without an error");
        return default;
    }

    // Each line as "number body id" or "number error", and "End" for the end of the stream.
    private static string[] ReadLines(IEnumerable<byte[]> chunks)
    {
        using var reader = new NdjsonReader();
        var read = new List<string>();
        foreach (byte[] chunk in chunks)
        {
            reader.Feed(chunk);
            Drain(reader, read);
        }

        reader.Complete();
        Drain(reader, read);
        return [.. read];
    }

    private static void Drain(NdjsonReader reader, List<string> read)
    {
        while (true)
        {
            StreamRead step = reader.Read(out ParsedDocument document, out InputError error);
            if (step is StreamRead.NeedMore or StreamRead.End)
            {
                read.AddRange(step == StreamRead.End ? ["End"] : []);
                return;
            }

            if (step == StreamRead.Error)
            {
                AssertHelpful(error);
                Assert.Equal(reader.Line, error.Where.Line);
                read.Add($"{reader.Line} {error.Code}");
            }
            else
            {
                read.Add($"{reader.Line} {Body(document)} {Text(document.MetadataId)}");
            }
        }
    }
}
