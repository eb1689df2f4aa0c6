using Rookery.Indexing.Values;

namespace Rookery.Fixtures;

/// <summary>Creates paths of fields from texts.</summary>
public static class FieldPaths
{
    /// <summary>
    /// Parses a path such as <c>lines[].product</c>: the field <c>product</c> of each element of the array
    /// <c>lines</c>.
    /// </summary>
    public static FieldPath Parse(string text) =>
        new(
            [
                .. text.Split('.')
                    .Select(static step => new PathStep(
                        step.Replace("[]", "", StringComparison.Ordinal),
                        step.EndsWith("[]", StringComparison.Ordinal)
                    )),
            ],
            0
        );
}
