using System.Text;
using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

public sealed class JsonSourceTests
{
    [Theory]
    [InlineData("""[{"n":1},{"n":2}]""", """{"n":1}|{"n":2}""")]
    [InlineData(" [ ]  [{\"n\":1}]\n{\"n\":2}", """{"n":1}|{"n":2}""")]
    [InlineData("\ufeff[\r\n{\r\n\"n\": 1\r\n}\r\n]\r\n", """{  "n": 1  }""")]
    [InlineData("{\n\"n\":1}\n{\n\"n\":2\n}", """{ "n":1}|{ "n":2 }""")]
    [InlineData("""{"n":1}{"n":2} {"n":3}""", """{"n":1}|{"n":2}|{"n":3}""")]
    [InlineData("""[{"t":"a\nb"},[3],null]""", """{"t":"a\nb"}|[3]|null""")]
    public void Documents_in_an_array_or_over_lines_become_one_line_each(string input, string expected)
    {
        for (int piece = 1; piece < 8; piece++)
        {
            var bytes = new ByteSource(new PieceStream(Encoding.UTF8.GetBytes(input), piece));
            Assert.True(JsonSource.Recognizes(bytes));
            Assert.Equal(expected, string.Join('|', Read(new JsonSource(bytes))));
        }
    }

    [Theory]
    [InlineData("{\"n\":1}\n{\n\"n\":2}")]
    [InlineData("\n \n{\"n\":1} \r\n{\"n\":2}")]
    [InlineData("{\"n\":\n{\"n\":2}\n{\"n\":3}")]
    [InlineData("nonsense\n{\"n\":2}")]
    [InlineData("{\"n\":1}")]
    [InlineData("")]
    public void Input_with_one_document_per_line_is_not_read_as_one_JSON_text(string input) =>
        Assert.False(
            JsonSource.Recognizes(new ByteSource(new PieceStream(Encoding.UTF8.GetBytes(input), pieceBytes: 3)))
        );

    [Theory]
    [InlineData("""[{"n":1},{"n":""", "cut off")]
    [InlineData("""[{"n":1}{"n":2}]""", "At byte 8 ',' or ']' is expected, not '{'.")]
    [InlineData("""[{"n":1},nonsense]""", "After byte 10 the decompressed input is not JSON: '")]
    [InlineData(
        "[\n{\"n\":1},\n{\n\"m\":2,\nx}]",
        "After byte 20 the decompressed input is not JSON: 'x' is an invalid"
    )]
    public void Truncated_JSON_is_reported_with_its_position(string input, string sentence)
    {
        var source = new JsonSource(new ByteSource(new PieceStream(Encoding.UTF8.GetBytes(input), pieceBytes: 5)));
        string message = Assert.Throws<BadInputException>(() => Read(source)).Message;
        Assert.Contains(sentence, message, StringComparison.Ordinal);
        Assert.DoesNotContain("LineNumber", message, StringComparison.Ordinal);
    }

    [Fact]
    public void A_document_is_read_before_what_follows_it_is_found_invalid()
    {
        var source = new JsonSource(new ByteSource(new MemoryStream("""[{"n":1} {"n":2}]"""u8.ToArray())));
        Assert.True(source.TryRead(out var first));
        Assert.Equal("""{"n":1}""", Encoding.UTF8.GetString(first.Json.Span));
        Assert.Throws<BadInputException>(() => source.TryRead(out _));
    }

    [Fact]
    public void A_line_that_is_too_large_for_a_document_is_refused_and_the_next_ones_are_read()
    {
        byte[] input = new byte[ByteSource.MaxBytes + 100];
        input.AsSpan().Fill((byte)'x');
        """{"a":" """u8.CopyTo(input);
        "\n{\"n\":2}"u8.CopyTo(input.AsSpan(input.Length - 8));
        var bytes = new ByteSource(new MemoryStream(input));
        Assert.False(JsonSource.Recognizes(bytes));
        var source = new NdjsonSource(bytes);
        Assert.True(source.TryRead(out var large));
        Assert.Equal(1, large.Place);
        Assert.Contains("larger than 64 MiB", large.Error, StringComparison.Ordinal);
        Assert.True(source.TryRead(out var next));
        Assert.Equal((2, """{"n":2}"""), (next.Place, Encoding.UTF8.GetString(next.Json.Span)));
        Assert.False(source.TryRead(out _));
    }

    private static List<string> Read(JsonSource source)
    {
        var read = new List<string>();
        while (source.TryRead(out var record))
        {
            Assert.Equal(read.Count + 1, record.Place);
            read.Add(Encoding.UTF8.GetString(record.Json.Span));
        }

        return read;
    }

    /// <summary>Returns at most a number of bytes from each read.</summary>
    private sealed class PieceStream(byte[] bytes, int pieceBytes) : MemoryStream(bytes)
    {
        public override int Read(byte[] buffer, int offset, int count) =>
            base.Read(buffer, offset, Math.Min(count, pieceBytes));
    }
}
