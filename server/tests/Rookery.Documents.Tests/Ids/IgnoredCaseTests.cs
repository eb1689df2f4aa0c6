using System.Text;
using Rookery.Documents.Apply;
using Rookery.Documents.Ids;

namespace Rookery.Documents.Tests.Ids;

/// <summary>The comparison of ids and names without regard to case.</summary>
public sealed class IgnoredCaseTests
{
    // Beyond these planes no letter has a case.
    private const int LastRune = 0x1FFFF;

    [Fact]
    public void All_letters_are_compared_as_their_rows_in_the_database()
    {
        for (int value = 0x20; value <= LastRune; value++)
        {
            if (!Rune.IsValid(value) || Rune.IsControl(new Rune(value)))
            {
                continue;
            }

            string letter = "a/" + new Rune(value);
            foreach (string other in (string[])[letter.ToUpperInvariant(), letter.ToLowerInvariant(), "a/s", "a/k"])
            {
                ExpectSame(IgnoredCase.OfNames, LowerOf(letter).AsSpan().SequenceEqual(LowerOf(other)), letter, other);
                ExpectSame(
                    IgnoredCase.OfCollections,
                    LowerOfCollection(letter).AsSpan().SequenceEqual(LowerOfCollection(other)),
                    letter,
                    other
                );
            }
        }
    }

    [Theory]
    [InlineData("users/1", "USERS/", true)]
    [InlineData("users/1", "users/1", true)]
    [InlineData("users/1", "users/10", false)]
    [InlineData("users/1", "", true)]
    [InlineData("straße", "STRAẞ", true)]
    [InlineData("ςα", "Σ", false)]
    [InlineData("𐐨x", "𐐀", true)]
    public void A_prefix_is_compared_letter_by_letter(string text, string prefix, bool isPrefix) =>
        Assert.Equal(isPrefix, IgnoredCase.OfNames.StartsWith(text, prefix));

    [Theory]
    [InlineData("users/1", "users/10")]
    [InlineData("users/10", "users/1")]
    [InlineData("", "a")]
    [InlineData("σ", "ς")]
    public void Different_texts_are_not_equal(string text, string other) =>
        Assert.False(IgnoredCase.OfNames.Equals(text, other));

    private static void ExpectSame(IgnoredCase comparer, bool isSame, string text, string other)
    {
        Assert.True(isSame == comparer.Equals(text, other), $"{text} and {other}");
        Assert.True(
            !isSame || comparer.GetHashCode(text) == comparer.GetHashCode(other),
            $"the hashes of {text} and {other}"
        );
    }

    private static byte[] LowerOfCollection(string text)
    {
        byte[] lower = new byte[Key.MaxBytes];
        return lower[..Key.LowerCollection(Encoding.UTF8.GetBytes(text), lower)];
    }

    private static byte[] LowerOf(string text)
    {
        byte[] lower = new byte[DocumentId.MaxBytes];
        return lower[..DocumentId.ToLower(Encoding.UTF8.GetBytes(text), lower)];
    }
}
