namespace Rookery.Scripting.Functions;

/// <summary>The order of what stands at two places.</summary>
internal interface ISortOrder
{
    /// <summary>Less than 0 where the left comes first, and 0 where they are equal.</summary>
    int Compare(int left, int right);
}
