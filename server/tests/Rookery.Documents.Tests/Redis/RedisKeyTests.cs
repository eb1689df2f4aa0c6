using System.Globalization;
using System.Text;
using Rookery.Documents.Ids;
using Rookery.Documents.Redis;

namespace Rookery.Documents.Tests.Redis;

/// <summary>Keys are mapped to ids one to one.</summary>
public sealed class RedisKeyTests
{
    [Theory]
    [InlineData("light:hall", "light:hall")]
    [InlineData("Light", "~Light")]
    [InlineData("~", "~~")]
    [InlineData("", "~")]
    [InlineData("a\n", "a~00a")]
    [InlineData("users/", "users~02f")]
    [InlineData("a/b|", "a/b~07c")]
    [InlineData("größe", "größe")]
    [InlineData("Größe", "~Größe")]
    [InlineData("GRÖSSE", "~G~R~0c3~096~S~S~E")]
    [InlineData("温度 1", "温度 1")]
    [InlineData("\u212A", "~0e2~084~0aa")]
    public void A_key_has_a_readable_id(string key, string expected)
    {
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        Assert.True(RedisKey.TryWriteId(Encoding.UTF8.GetBytes(key), id, out int length));
        Assert.Equal(expected, Encoding.UTF8.GetString(id[..length]));
    }

    [Theory]
    [InlineData("Light:Hall", "light:hall")]
    [InlineData("~Light", "Light")]
    [InlineData("ÜNI", "üni")]
    [InlineData("~00Aa", "\na")]
    public void A_document_has_the_key_of_its_small_letters(string id, string expected)
    {
        Span<byte> key = stackalloc byte[RedisKey.MaxIdBytes];
        Assert.True(RedisKey.TryReadKey(Encoding.UTF8.GetBytes(id), key, out int length));
        Assert.Equal(expected, Encoding.UTF8.GetString(key[..length]));
    }

    [Theory]
    [InlineData("a~")]
    [InlineData("a~!")]
    [InlineData("~061")]
    [InlineData("~0g0")]
    public void An_id_that_no_key_has_is_no_key(string id) =>
        Assert.False(RedisKey.TryReadKey(Encoding.UTF8.GetBytes(id), stackalloc byte[RedisKey.MaxIdBytes], out _));

    [Fact]
    public void Random_keys_have_different_valid_ids_and_are_read_back()
    {
        var random = new Random(1);
        var ids = new Dictionary<string, byte[]>(IgnoredCase.OfNames);
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        Span<byte> lower = stackalloc byte[RedisKey.MaxIdBytes];
        Span<byte> unicodeLower = stackalloc byte[RedisKey.MaxIdBytes];
        Span<byte> back = stackalloc byte[RedisKey.MaxIdBytes];
        for (int i = 0; i < 50_000; i++)
        {
            byte[] key = RandomKey(random);
            Assert.True(RedisKey.TryWriteId(key, id, out int length));
            Assert.True(DocumentId.TryValidate(id[..length], out _));
            Assert.True(id[length - 1] is not ((byte)'/' or (byte)'|'));
            RedisKey.WriteLowerId(id[..length], lower);
            Assert.Equal(length, DocumentId.ToLower(id[..length], unicodeLower));
            Assert.True(lower[..length].SequenceEqual(unicodeLower[..length]));
            Assert.True(RedisKey.TryReadKey(id[..length], back, out int keyLength));
            Assert.Equal(key, back[..keyLength].ToArray());
            Assert.True(RedisKey.TryReadKey(lower[..length], back, out keyLength));
            Assert.Equal(key, back[..keyLength].ToArray());
            string text = Encoding.UTF8.GetString(id[..length]);
            Assert.True(ids.TryAdd(text, key) || ids[text].AsSpan().SequenceEqual(key), text);
        }
    }

    [Fact]
    public void Every_character_that_is_kept_is_unchanged_by_lower_casing_and_printable()
    {
        Span<byte> utf8 = stackalloc byte[4];
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        for (int value = 0x80; value <= 0x10FFFF; value++)
        {
            if (!Rune.TryCreate(value, out var rune))
            {
                continue;
            }

            int bytes = rune.EncodeToUtf8(utf8);
            Assert.True(RedisKey.TryWriteId(utf8[..bytes], id, out int length));
            bool isKept = id[..length].SequenceEqual(utf8[..bytes]);
            bool mayBeKept =
                Rune.ToLowerInvariant(rune) == rune
                && Rune.GetUnicodeCategory(rune) is not (UnicodeCategory.Control or UnicodeCategory.Format);
            Assert.True(!isKept || mayBeKept, $"U+{value:X4}");
        }
    }

    [Fact]
    public void A_key_is_refused_if_its_id_would_be_too_long()
    {
        Span<byte> id = stackalloc byte[RedisKey.MaxIdBytes];
        Assert.True(RedisKey.TryWriteId(Enumerable.Repeat((byte)'a', 512).ToArray(), id, out int length));
        Assert.Equal(512, length);
        Assert.False(RedisKey.TryWriteId(Enumerable.Repeat((byte)'a', 513).ToArray(), id, out _));
        Assert.True(RedisKey.TryWriteId(Enumerable.Repeat((byte)0xFF, 128).ToArray(), id, out length));
        Assert.Equal(512, length);
        Assert.False(RedisKey.TryWriteId(Enumerable.Repeat((byte)0xFF, 129).ToArray(), id, out _));
        Assert.True(RedisKey.TryWriteId(Enumerable.Repeat((byte)'A', 256).ToArray(), id, out length));
        Assert.False(RedisKey.TryWriteId(Enumerable.Repeat((byte)'A', 257).ToArray(), id, out _));
    }

    private static byte[] RandomKey(Random random)
    {
        string[] pieces = [.. "a A ~ ~0 0 / | ö Ö ß ẞ İ ı ς σ Σ 温 😀 z~ 41".Split(' '), "\0"];
        var key = new List<byte>();
        for (int i = random.Next(8); i > 0; i--)
        {
            if (random.Next(3) == 0)
            {
                key.Add((byte)random.Next(256));
            }
            else
            {
                key.AddRange(Encoding.UTF8.GetBytes(pieces[random.Next(pieces.Length)]));
            }
        }

        return [.. key];
    }
}
