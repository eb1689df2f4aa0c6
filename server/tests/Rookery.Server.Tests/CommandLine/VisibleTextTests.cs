using System.Globalization;
using System.Text;
using System.Text.Json;
using Rookery.Clusters;
using Rookery.Data;
using Rookery.Hosting.Logging;
using Rookery.Terminal;

namespace Rookery.Server.Tests.CommandLine;

/// <summary>
/// Names, values and messages from elsewhere reach a terminal without control characters, direction marks, or invisible
/// characters.
/// </summary>
public class VisibleTextTests
{
    // Right-to-left override, isolates, marks, Arabic letter mark, separators, joiners, tags, soft hyphen, escape, C1,
    // delete, fillers, an unpaired surrogate.
    private const string Hostile =
        "a\u202eb\u2066c\u2069d\u200ee\u061cf\u2028g\u2029h\u200bi\u200dj\U000e0041k\u00adl\u001b[31mm\u009bn\u007fo\u3164p\ufeffq\rr\ud800s";
    private const string Harmless = "Zoë, 中文, עברית, 👩🏽 ❤️, naïve, 10 °C → ok";

    [Fact]
    public void No_control_or_hidden_character_is_left()
    {
        for (int value = 0; value <= 0x10ffff; value++)
        {
            if (!Rune.TryCreate(value, out var letter))
            {
                continue;
            }

            string visible = VisibleText.OfLine(letter.ToString());
            bool isKept = string.Equals(visible, letter.ToString(), StringComparison.Ordinal);
            // Besides whole categories: a joiner and fillers, which are letters or symbols without a visible form.
            bool isHostile =
                Rune.GetUnicodeCategory(letter)
                    is UnicodeCategory.Control
                        or UnicodeCategory.Format
                        or UnicodeCategory.LineSeparator
                        or UnicodeCategory.ParagraphSeparator
                || value is 0x34f or 0x115f or 0x1160 or 0x17b4 or 0x17b5 or 0x2800 or 0x3164 or 0xffa0;
            Assert.True(isKept != isHostile, $"U+{value:X4} is written as '{visible}'");
            Assert.True(
                isKept || visible is " " || visible.StartsWith("\\u", StringComparison.Ordinal),
                $"U+{value:X4} is written as '{visible}'"
            );
        }
    }

    [Fact]
    public void Readable_text_is_unchanged()
    {
        Assert.Equal(Harmless, VisibleText.OfLine(Harmless));
        Assert.Equal("two\nlines\tand a tab", VisibleText.Of("two\nlines\tand a tab"));
        Assert.Equal("two lines and a tab", VisibleText.OfLine("two\r\nlines\tand a tab"));
        Assert.Equal("a\\ud800b", VisibleText.Of("a\ud800b"));
    }

    [Theory]
    [InlineData(1)]
    [InlineData(3)]
    [InlineData(1 << 20)]
    public void JSON_of_a_node_keeps_its_meaning(int partBytes)
    {
        string text = string.Concat(Enumerable.Repeat(Harmless + "\u202e\u2028\u009b\U000e0041", 1000));
        byte[] json = Encoding.UTF8.GetBytes($"{{\"{text}\":\n\"{text}\"}}");
        var written = new MemoryStream();
        using (var visible = new VisibleStream(written))
        {
            foreach (byte[] part in json.Chunk(partBytes))
            {
                visible.Write(part);
            }
        }

        string shown = Encoding.UTF8.GetString(written.ToArray());
        Assert.Equal(-1, shown.AsSpan().IndexOfAny("\u202e\u2028\u009b\udb40"));
        Assert.Contains("\\u202e\\u2028\\u009b\\udb40\\udc41", shown, StringComparison.Ordinal);
        using var read = JsonDocument.Parse(shown);
        Assert.Equal(text, read.RootElement.GetProperty(text).GetString());
    }

    [Fact]
    public void Invalid_UTF8_bytes_are_shown_as_such()
    {
        var written = new MemoryStream();
        using (var visible = new VisibleStream(written))
        {
            visible.Write([(byte)'a', 0xff, (byte)'b', 0xe2, 0x80]);
        }

        Assert.Equal("a\ufffdb\ufffd", Encoding.UTF8.GetString(written.ToArray()));
    }

    [Fact]
    public void Tables_show_the_names_and_values_of_documents_in_one_line_each()
    {
        using var results = JsonDocument.Parse(
            JsonSerializer.Serialize(
                new[]
                {
                    new Dictionary<string, object>
                    {
                        [Hostile] = "v" + Hostile,
                        ["@metadata"] = new Dictionary<string, string> { ["@id"] = "id" + Hostile },
                    },
                }
            )
        );
        string[] lines =
        [
            .. ResultTable.Of([.. results.RootElement.EnumerateArray()]).Lines(null, new Paint(isOn: false)),
        ];
        // The header and one row.
        Assert.Equal(2, lines.Length);
        Assert.All(lines, AssertHarmless);
        Assert.Contains("a\\u202eb", lines[0], StringComparison.Ordinal);
    }

    [Fact]
    public void Members_are_shown_in_one_line_each()
    {
        using var cluster = JsonDocument.Parse(
            JsonSerializer.Serialize(
                new
                {
                    Members = new[]
                    {
                        new
                        {
                            Tag = "A",
                            Name = Hostile,
                            Url = "https://x\n" + Hostile,
                        },
                    },
                    Note = "Fine.",
                }
            )
        );
        string[] lines = MemberTable.Of(cluster.RootElement).Split('\n');
        // The header, one row and the note.
        Assert.Equal(3, lines.Length);
        Assert.All(lines, AssertHarmless);
    }

    private static void AssertHarmless(string line) => Assert.Equal(VisibleText.OfLine(line), line);
}
