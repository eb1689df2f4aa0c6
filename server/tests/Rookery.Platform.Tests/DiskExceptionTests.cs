namespace Rookery.Platform.Tests;

/// <summary>Messages of disk errors for the operator.</summary>
public sealed class DiskExceptionTests
{
    private const int HighestErrorOfLinux = 133;

    [Fact]
    public void Every_error_number_of_Linux_has_a_description()
    {
        // 41 and 58 are free in asm-generic/errno.h.
        foreach (int number in Enumerable.Range(1, HighestErrorOfLinux).Except([41, 58]))
        {
            string reason = DiskException.Describe((Errno)number);
            Assert.NotEmpty(reason);
            Assert.DoesNotContain($"error {number}", reason, StringComparison.OrdinalIgnoreCase);
        }
    }

    [Theory]
    [InlineData(1, "the system does not permit it")]
    [InlineData(22, "the file or its file system does not support it")]
    [InlineData(24, "this process has too many files open")]
    [InlineData(29, "it is a pipe or a socket, which has no positions")]
    [InlineData(36, "a name in the path is too long")]
    [InlineData(40, "the path has too many symbolic links, or they form a circle")]
    public void An_error_that_the_operator_can_fix_says_what_is_wrong(int number, string reason)
    {
        var failure = new DiskException("open", "/data/journal", (Errno)number);
        Assert.Equal($"Could not open /data/journal: {reason}.", failure.Message);
    }

    [Fact]
    public void An_unknown_error_number_is_part_of_the_message()
    {
        Assert.Contains("4321", DiskException.Describe((Errno)4321), StringComparison.Ordinal);
    }
}
