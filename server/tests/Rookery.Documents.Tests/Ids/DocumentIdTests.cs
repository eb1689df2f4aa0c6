using System.Text;
using CsCheck;
using Rookery.Documents.Ids;
using Rookery.Json;
using Rookery.Simulation;
using static Rookery.Documents.Tests.Parsing.ParsedExample;

namespace Rookery.Documents.Tests.Ids;

/// <summary>Which ids are valid, how they are lower-cased, and which patterns they match.</summary>
public class DocumentIdTests
{
    [Theory]
    [InlineData("Users/1-A", "users/1-a")]
    [InlineData("ÄÖÜ/É", "äöü/é")]
    [InlineData("ΑΒΓ", "αβγ")]
    [InlineData("aЖz", "aжz")]
    [InlineData("\u212A", "k")] // the Kelvin sign
    [InlineData("\u023A", "\u2C65")] // grows from two bytes to three
    [InlineData("ß😀日本", "ß😀日本")]
    public void Ids_are_lower_cased_by_the_simple_mapping(string id, string lower) => Assert.Equal(lower, Lower(id));

    [Fact]
    public void Lower_casing_twice_changes_nothing() =>
        Gen.Frequency((1, Gen.Int[0x20, 0x7E]), (2, Gen.Int[0xA0, 0x1EFFF].Where(Rune.IsValid)))
            .Select(static value => new Rune(value).ToString())
            .Array[1, 20]
            .Select(string.Concat)
            .CheckEach(5000, static id => Assert.Equal(Lower(id), Lower(Lower(id))));

    [Fact]
    public void Ascii_and_other_ids_are_lower_cased_alike()
    {
        for (char letter = '!'; letter < 0x7F; letter++)
        {
            Assert.Equal(Lower($"{letter}") + "é", Lower($"{letter}É"));
        }
    }

    [Theory]
    [InlineData("")]
    [InlineData("a\u0000")]
    [InlineData("a\n")]
    [InlineData("a\u007F")]
    [InlineData("é\u0085")]
    public void Ids_without_text_or_with_control_characters_are_refused(string id)
    {
        Assert.False(DocumentId.TryValidate(Bytes(id), out InputError error));
        AssertHelpful(error);
        Assert.Equal(InputErrorCode.InvalidId, error.Code);
    }

    [Fact]
    public void Ids_take_512_bytes_before_and_after_lower_casing()
    {
        Assert.True(DocumentId.TryValidate(Bytes(new string('x', 512)), out _));
        Assert.False(DocumentId.TryValidate(Bytes(new string('x', 513)), out _));
        Assert.True(DocumentId.TryValidate(Bytes(new string('é', 256)), out _));
        Assert.False(DocumentId.TryValidate(Bytes(new string('é', 257)), out _));

        // 512 bytes that are 768 when they are lower-cased.
        Assert.False(DocumentId.TryValidate(Bytes(new string('\u023A', 256)), out InputError grows));
        Assert.Contains("lower-cased", grows.What, StringComparison.Ordinal);
    }

    [Fact]
    public void Ids_that_are_not_UTF8_are_refused() => Assert.False(DocumentId.TryValidate([0x61, 0xFF], out _));

    [Theory]
    [InlineData("", true)]
    [InlineData("users/", true)]
    [InlineData("users|", true)]
    [InlineData("/", false)]
    [InlineData("|", false)]
    public void Ids_for_puts_may_be_empty_or_prefixes(string id, bool isValid) =>
        Assert.Equal(isValid, DocumentId.TryValidateForStore(Bytes(id), out _));

    [Fact]
    public void Prefixes_leave_room_for_their_number()
    {
        // Of 512 bytes, 21 are for the number.
        Assert.True(DocumentId.TryValidateForStore(Bytes(new string('x', 490) + "/"), out _));
        Assert.False(DocumentId.TryValidateForStore(Bytes(new string('x', 491) + "/"), out _));
    }

    // '*' stands for any characters, '?' for one, and '|' separates alternatives.
    [Theory]
    [InlineData("1*", "12", true)]
    [InlineData("1*", "21", false)]
    [InlineData("*", "", true)]
    [InlineData("?", "", false)]
    [InlineData("?", "é", true)]
    [InlineData("?", "ab", false)]
    [InlineData("*b*c", "abbcc", true)]
    [InlineData("*b*c", "abcd", false)]
    [InlineData("A?c|x*", "abc", true)]
    [InlineData("A?c|x*", "xyz", true)]
    [InlineData("A?c|x*", "bc", false)]
    [InlineData("É*", "éa", true)]
    [InlineData("a**b", "ab", true)]
    public void Patterns_match_the_rest_of_an_id(string pattern, string suffix, bool matches) =>
        Assert.Equal(matches, new IdPattern(pattern).IsMatch(Bytes(suffix)));

    [Fact]
    public void An_empty_pattern_counts_as_no_pattern() =>
        Assert.True(new IdPattern("").IsEmpty && new IdPattern(null).IsEmpty);

    private static string Lower(string id)
    {
        byte[] lower = new byte[DocumentId.MaxBytes];
        return Text(lower.AsSpan(0, DocumentId.ToLower(Bytes(id), lower)));
    }
}
