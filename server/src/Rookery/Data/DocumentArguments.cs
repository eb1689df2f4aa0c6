using System.CommandLine;

namespace Rookery.Data;

/// <summary>Arguments that several commands share.</summary>
internal static class DocumentArguments
{
    /// <summary>The database.</summary>
    public static Argument<string> Database() =>
        new("DB") { Description = "The database; `.` is your default, which `rookery login` saved." };
}
