using System.Text;

namespace Rookery.Json.Tests;

public class ShortTextTests
{
    [Theory]
    [InlineData("", "")]
    [InlineData("abcd", "abcd")]
    [InlineData("abcde", "abcd…")]
    [InlineData("abcéx", "abc…")] // é has two bytes
    [InlineData("ab€x", "ab…")] // € has three
    [InlineData("a€x", "a€…")]
    [InlineData("a😀x", "a…")] // 😀 has four
    [InlineData("😀x", "😀…")]
    public void A_text_of_bytes_ends_after_a_whole_character(string text, string shown) =>
        Assert.Equal(shown, ShortText.Of(Encoding.UTF8.GetBytes(text), maxBytes: 4));

    [Theory]
    [InlineData("", "")]
    [InlineData("abc", "abc")]
    [InlineData("abcd", "abc…")]
    [InlineData("ab😀", "ab…")]
    [InlineData("a😀b", "a😀…")]
    public void A_text_ends_after_a_whole_character(string text, string shown) =>
        Assert.Equal(shown, ShortText.Of(text, maxLength: 3));

    [Fact]
    public void Bytes_that_are_no_text_are_shown_within_the_limit() =>
        Assert.Equal("\uFFFD…", ShortText.Of([0x80, 0x80, 0x80, 0x80, 0x80, 0x80], maxBytes: 4));
}
