using System.Text;
using Rookery.Transfer;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>CSV files as `rookery import` reads them.</summary>
public sealed class CsvReaderTests
{
    // In the expected text, '|' separates fields and " / " records.
    [Theory]
    [InlineData("a,b\r\nc,d\r\n", "a|b / c|d")]
    [InlineData("a,b\nc,d", "a|b / c|d")]
    [InlineData("a,,\n", "a||")]
    [InlineData("\"a,b\",\"c\"\"d\"\n", "a,b|c\"d")]
    [InlineData("\"two\r\nlines\",x\n", "two\r\nlines|x")]
    [InlineData("a\n\n\r\nb\n", "a / b")]
    [InlineData("a b , \"c\"\n", "a b | \"c\"")]
    [InlineData("\"\",x\n", "|x")]
    [InlineData("a\rb,c\n", "a\rb|c")]
    [InlineData("", "")]
    public void Records_are_those_of_RFC_4180(string text, string expected)
    {
        var reader = new CsvReader(new StringReader(text), ',');
        var fields = new List<string>();
        var records = new List<string>();
        while (reader.TryRead(fields))
        {
            records.Add(string.Join('|', fields));
        }

        Assert.Equal(expected, string.Join(" / ", records));
    }

    /// <summary>Formerly, a quote that is not closed took as much memory as the rest of the file is long.</summary>
    [Theory]
    [InlineData("\"", 'x')]
    [InlineData("", 'x')]
    [InlineData("", ',')]
    public void A_record_above_the_length_limit_is_refused_with_its_line(string begin, char next)
    {
        using var endless = new EndlessText("a,b\n\n" + begin, next);
        var reader = new CsvReader(endless, ',');
        var fields = new List<string>();
        Assert.True(reader.TryRead(fields));
        var refused = Assert.Throws<BadInputException>(() => reader.TryRead(fields));
        Assert.Contains("line 3", refused.Message, StringComparison.Ordinal);
        // The reader refuses a record after a few MiB and reads no further.
        Assert.InRange(endless.Count, 1 << 20, 64 << 20);
    }

    [Fact]
    public void A_record_is_identified_by_its_first_line()
    {
        var reader = new CsvReader(new StringReader("a\n\"x\ny\nz\"\n\nb\n"), ',');
        var fields = new List<string>();
        var lines = new List<long>();
        while (reader.TryRead(fields))
        {
            lines.Add(reader.Line);
        }

        Assert.Equal([1, 2, 6], lines);
    }

    [Theory]
    [InlineData("a,\"b\nc", "line 1 is not closed")]
    [InlineData("a\n\"b\"c,d\n", "In line 2 \"c\" follows")]
    public void Malformed_CSV_is_refused_with_its_line(string text, string sentence)
    {
        var reader = new CsvReader(new StringReader(text), ',');
        var fields = new List<string>();
        var refused = Assert.Throws<BadInputException>(() =>
        {
            while (reader.TryRead(fields))
            {
                // Read on to the invalid record.
            }
        });
        Assert.Contains(sentence, refused.Message, StringComparison.Ordinal);
    }

    // The bytes of the file as Latin-1, and the lines that are refused. The third file begins with a byte order mark;
    // the last is valid UTF-8 and has the replacement character itself.
    [Theory]
    [InlineData("a\n1,Z\u00fcrich\n", "2")]
    [InlineData("a\n\"\u00e9\"\nok\n\u00fc\r\n", "2 4")]
    [InlineData("\u00ef\u00bb\u00bfa\n\u00fc\n", "2")]
    [InlineData("a\n\u00ef\u00bf\u00bd \u00c3\u00bc\n", "")]
    public void A_row_that_is_not_UTF8_is_refused_with_its_line(string latin1, string lines)
    {
        var source = OpenTable(latin1);
        var refused = new List<string>();
        while (source.TryRead(out var record))
        {
            if (
                record.Error is { } error
                && error.StartsWith("The row is not valid UTF-8. Save ", StringComparison.Ordinal)
            )
            {
                refused.Add($"{record.Place}");
            }
        }

        Assert.Equal(lines, string.Join(' ', refused));
    }

    [Fact]
    public void A_header_row_that_is_not_UTF8_is_refused() =>
        Assert.Contains(
            "not valid UTF-8",
            Assert.Throws<BadInputException>(() => OpenTable("id,stra\u00dfe\n1,2\n")).Message,
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("id;ort\n1;Ulm\n", ',', "--separator ';'")]
    [InlineData("id\tort\n1\tUlm\n", ',', "--separator tab")]
    [InlineData("id,ort\n1,Ulm\n", ';', "--separator ','")]
    public void A_header_row_with_another_separator_is_refused(string text, char separator, string option) =>
        Assert.Contains(
            option,
            Assert.Throws<BadInputException>(() => OpenTable(text, separator)).Message,
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData("true", "true")]
    [InlineData("True", "true")]
    [InlineData("TRUE", "true")]
    [InlineData("False", "false")]
    [InlineData("FALSE", "false")]
    [InlineData("tRUE", "\"tRUE\"")]
    [InlineData("yes", "\"yes\"")]
    [InlineData("NULL", "\"NULL\"")]
    [InlineData("-1.50", "-1.50")]
    [InlineData("+1", "\"+1\"")]
    [InlineData("01067", "\"01067\"")]
    public void Type_inference_accepts_true_and_false_in_three_spellings(string field, string json)
    {
        var source = OpenTable($"a\n{field}\n", infers: true);
        Assert.True(source.TryRead(out var record));
        Assert.StartsWith($"{{\"a\":{json},", Encoding.UTF8.GetString(record.Json.Span), StringComparison.Ordinal);
    }

    /// <summary>Opens a table whose bytes are those of a text in Latin-1; so they need not be valid UTF-8.</summary>
    private static CsvSource OpenTable(string latin1, char separator = ',', bool infers = false)
    {
        var text = CsvSource.TextOf(new MemoryStream(Encoding.Latin1.GetBytes(latin1)));
        return new CsvSource(text, new CsvOptions("Rooks", IdColumn: null, infers, separator));
    }

    /// <summary>A text that repeats a character for ever after its beginning. It counts those that are read.</summary>
    private sealed class EndlessText(string begin, char next) : TextReader
    {
        public int Count { get; private set; }

        public override int Peek() => Count < begin.Length ? begin[Count] : next;

        public override int Read()
        {
            int character = Peek();
            Count++;
            return character;
        }
    }
}
