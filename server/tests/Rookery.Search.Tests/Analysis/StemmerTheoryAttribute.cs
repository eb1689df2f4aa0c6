using Rookery.Search.Analysis;

namespace Rookery.Search.Tests.Analysis;

/// <summary>A theory that needs libstemmer; it is skipped with that reason if the library is missing.</summary>
[AttributeUsage(AttributeTargets.Method)]
public sealed class StemmerTheoryAttribute : TheoryAttribute
{
    public StemmerTheoryAttribute()
    {
        if (!StemmerLibrary.IsInstalled)
        {
            Skip = "libstemmer.so.0d is not installed (Debian's libstemmer0d)";
        }
    }
}
